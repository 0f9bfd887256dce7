#pragma once

#include <optional>
#include <string>

#include "cli/command/command.hpp"
#include "cli/command/options.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"
#include "coldtrace/trace_analysis/requests/disk_map.hpp"

namespace coldtrace::cli {

// What the output of "coldtrace ntfs snapshot" says about a disk.
struct DiskSnapshot {
  trace_analysis::DiskMap map;
  u64 offset = 0;           // of its image on the disk
  u32 disk = 0;             // its number in the trace
  bool whole_disk = false;  // the image has a partition table
};

// What gives names to files by their place on a disk.
struct SnapshotOptions {
  std::string file;  // empty: none
  std::optional<u64> offset;
  u32 disk = 0;
};
void add_snapshot_options(Command& command, SnapshotOptions& options);

// The snapshot that a command was given, if any.
class SnapshotInput {
 public:
  // Reads its NDJSON lines; the run reports what is wrong with them.
  SnapshotInput(const SnapshotOptions& options, u64 largest_bytes, core::Findings& findings,
                Report& report);

  // False, and a report, if there is a file that cannot be used.
  bool opened() const { return opened_; }
  // Null if there is none.
  const DiskSnapshot* get() const { return snapshot_ ? &*snapshot_ : nullptr; }
  std::optional<trace_analysis::DiskIo::Snapshot> on_disk() const;

 private:
  std::optional<DiskSnapshot> snapshot_;
  bool opened_;
};

}  // namespace coldtrace::cli
