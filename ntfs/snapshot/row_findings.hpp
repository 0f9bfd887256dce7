#pragma once

#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// What is odd about one row, as findings of that row.
void add_assembly_findings(FileRow& row);
void add_link_finding(FileRow& row);
void add_extent_findings(FileRow& row, const ExtentFaults& faults, const Volume& volume);
// Where the disk could not be read when its image was made.
void add_unread_findings(FileRow& row, const Volume& volume);
// `first` is the attribute with the start of the stream, whose extents the row has already.
void add_size_findings(FileRow& row, const StreamRow& stream, const AttributeFacts& first,
                       const Mft& mft);
// `all_time_rules`: also what healthy volumes are full of.
void add_row_findings(FileRow& row, const RecordTable& records, bool all_time_rules);

}  // namespace coldtrace::ntfs
