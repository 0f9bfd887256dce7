#pragma once

#include "cli/command/report.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/report/page/page.hpp"
#include "cli/report/snapshot/traced_volumes.hpp"

namespace coldtrace::cli {

struct SnapshotReportOptions {
  u64 top = 250;  // rows of each table
  unsigned jobs = 1;
  std::string id = "volume";        // in front of the names of elements
  u64 largest = 0;                  // bytes that the page is to have at most
  TracedVolumes* traced = nullptr;  // gets the volumes, if it is there
};

// Adds a section for each NTFS volume of a disk image: how much is in which state, sizes, activity,
// where the clusters lie, files that stand out, findings. False where there is none, which `report`
// says.
bool add_snapshot_report(Page& page, const DiskOptions& options,
                         const SnapshotReportOptions& report_options, Report& report);

}  // namespace coldtrace::cli
