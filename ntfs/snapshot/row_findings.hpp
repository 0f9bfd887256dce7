#pragma once

#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// What is odd about one row becomes findings of that row.
void add_assembly_findings(FileRow& row);
void add_link_finding(FileRow& row);
void add_extent_findings(FileRow& row, const ExtentFaults& faults, const Volume& volume);
// Adds what lies where the disk could not be read when its image was made.
void add_unread_findings(FileRow& row, const Volume& volume);
// `first` is the attribute with the start of the stream; the row has its extents already.
void add_size_findings(FileRow& row, const StreamRow& stream, const AttributeFacts& first,
                       const Mft& mft);
// `all_time_rules`: also apply rules that healthy volumes break all the time.
void add_row_findings(FileRow& row, const RecordTable& records, bool all_time_rules);

}  // namespace coldtrace::ntfs
