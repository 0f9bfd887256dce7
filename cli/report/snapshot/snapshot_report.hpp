#pragma once

#include "cli/command/report.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/report/page/page.hpp"
#include "cli/report/snapshot/volume_report.hpp"

namespace coldtrace::cli {

// Adds a section for each NTFS volume of a disk image or of the NDJSON of a snapshot, written by
// VolumeReport; `piped` are the contents of a pipe instead of a file. False, and a report, if there
// is no volume.
bool add_snapshot_report(Page& page, const DiskOptions& options,
                         std::unique_ptr<core::ImageSource> piped,
                         const SnapshotReportOptions& report_options, Report& report);

}  // namespace coldtrace::cli
