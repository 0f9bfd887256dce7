#pragma once

#include "cli/command/report.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/report/page/page.hpp"
#include "cli/report/snapshot/volume_report.hpp"

namespace coldtrace::cli {

// Adds a section for each NTFS volume of a disk image or of the NDJSON of a snapshot, as
// VolumeReport writes them; `piped` is what a pipe supplied instead of a file. False if there is
// none, which `report` says.
bool add_snapshot_report(Page& page, const DiskOptions& options,
                         std::unique_ptr<core::ImageSource> piped,
                         const SnapshotReportOptions& report_options, Report& report);

}  // namespace coldtrace::cli
