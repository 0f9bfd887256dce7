#pragma once

#include <map>
#include <vector>

#include "cli/ntfs/locate/locator.hpp"
#include "cli/ntfs/snapshot_header.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::cli {

// The NDJSON of a snapshot in which places are looked up: read once for its volumes, and again for
// each batch of places and volume.
class LocatedLines {
 public:
  explicit LocatedLines(core::Borrowed<core::ImageSource> file) : file_{file.get()} {}

  // Opens the requested `partition`, or all. Returns why no place can be found in it; empty if
  // places can.
  std::string open(std::optional<u32> partition, Int64 int64, core::Findings& findings);

  const std::vector<SnapshotHeader>& headers() const { return headers_; }
  LocatedDisk disk() const;
  // By shadow copy, the current state last. They refer to this object.
  std::vector<std::vector<LocatedVolume>> views(std::string_view path);

  // What it leaves out, as in ntfs::SnapshotNames.
  const std::string& left_out() const { return left_out_; }

  // Adds what the rows read so far lacked.
  void report(core::Findings& findings) const { mistyped_.report(findings); }

 private:
  std::vector<ntfs::Place> find(std::size_t volume, std::span<const u64> offsets);

  const core::ImageSource& file_;
  std::vector<SnapshotHeader> headers_;  // of the chosen volumes
  std::vector<std::size_t> numbers_;     // of their header lines in the file, from 0
  MistypedMembers mistyped_;
  std::string left_out_;
};

}  // namespace coldtrace::cli
