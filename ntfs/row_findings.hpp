#pragma once

#include "ntfs/extents.hpp"
#include "ntfs/record_table.hpp"
#include "ntfs/row.hpp"
#include "ntfs/volume.hpp"

namespace coldtrace::ntfs {

// What is odd about one row, as findings of that row.
void add_assembly_findings(FileRow& row, const RecordTable::Assembly& assembly);
void add_extent_findings(FileRow& row, const ExtentFaults& faults, const Volume& volume);
void add_row_findings(FileRow& row);

}  // namespace coldtrace::ntfs
