#pragma once

#include <optional>
#include <string>

#include "cli/command/command.hpp"
#include "cli/command/options.hpp"
#include "coldtrace/trace_analysis/disk_map.hpp"

namespace coldtrace::cli {

// What the output of "coldtrace ntfs snapshot" says of a disk.
struct DiskSnapshot {
  trace_analysis::DiskMap map;
  u64 offset = 0;           // of its image on the disk
  u32 disk = 0;             // as the trace numbers it
  bool whole_disk = false;  // the image has a partition table
};

// What names files by their place on a disk.
struct SnapshotOptions {
  std::string file;  // empty: nothing does
  std::optional<u64> offset;
  u32 disk = 0;
};
void add_snapshot_options(Command& command, SnapshotOptions& options);

// Reads NDJSON lines. Nothing when the file
// cannot be used, which `report` says.
std::optional<DiskSnapshot> read_disk_snapshot(const SnapshotOptions& options, u64 largest_bytes,
                                               core::Findings& findings, Report& report);

}  // namespace coldtrace::cli
