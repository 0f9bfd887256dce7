#pragma once

#include <map>
#include <vector>

#include "cli/ntfs/locate/locator.hpp"
#include "cli/ntfs/snapshot_header.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::cli {

// The NDJSON of a snapshot that places are asked of: read once for what volumes it has, and again
// for each batch of places and volume.
class LocatedLines {
 public:
  explicit LocatedLines(core::Borrowed<core::ImageSource> file) : file_{file.get()} {}

  // Of the `partition` that is asked for, or all. Why no place can be found in it; empty where one
  // can.
  std::string open(std::optional<u32> partition, Int64 int64, core::Findings& findings);

  const std::vector<SnapshotHeader>& headers() const { return headers_; }
  LocatedDisk disk() const;
  // By shadow copy, the volume as it is now last. They ask this object.
  std::vector<std::vector<LocatedVolume>> views(std::string_view path);

  // What it leaves out, as ntfs::SnapshotNames has it.
  const std::string& left_out() const { return left_out_; }

  // What the rows lacked of those that were read.
  void report(core::Findings& findings) const { mistyped_.report(findings); }

 private:
  std::vector<ntfs::Place> find(std::size_t volume, std::span<const u64> offsets);

  const core::ImageSource& file_;
  std::vector<SnapshotHeader> headers_;  // of chosen volumes
  std::vector<std::size_t> numbers_;     // of their header lines in the file, from 0
  MistypedMembers mistyped_;
  std::string left_out_;
};

}  // namespace coldtrace::cli
