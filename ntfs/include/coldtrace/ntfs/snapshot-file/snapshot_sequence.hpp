#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// The view of a volume that rows of a snapshot are of, as its first line says it; 0 is none.
struct SnapshotView {
  u64 offset;  // of the partition
  u32 partition;
  u32 shadow_copy;
  auto operator<=>(const SnapshotView&) const = default;
};

// How the lines of a file were read.
struct ReadLines {
  bool to_end = true;  // of the file
  u64 damaged = 0;     // that could not be used
};

// Whether the lines of a file, as they follow each other, are whole snapshots, and of one run:
// views of volumes of one disk, each once, and no summary between them.
class SnapshotSequence {
 public:
  // The line that begins a view. `disk` is what it says of the disk, the same in all of a run.
  void add_header(const SnapshotView& view, std::string_view disk);
  // A line of a name or of a gap.
  void add_row();
  // The last line of a snapshot: how many views it counts, if it does, and whether it says that
  // it is complete.
  void add_summary(std::optional<u64> views, bool is_complete);

  // Each snapshot of the file, which may be several one behind the other, has its header and behind
  // its rows a summary that says so and counts as many views as there are headers.
  [[nodiscard]] bool complete() const { return ended_ && !incomplete_; }
  // No snapshot was cut off, nor was the file.
  [[nodiscard]] bool complete(const ReadLines& lines) const { return complete() && lines.to_end; }
  // And all lines could be read.
  [[nodiscard]] bool whole(const ReadLines& lines) const {
    return complete(lines) && lines.damaged == 0;
  }
  // That they are not: `snapshot-incomplete`.
  void report_whole(const ReadLines& lines, core::Findings& findings) const;
  // Why the snapshots are not of one run; empty where they are.
  [[nodiscard]] std::string refusal() const;

 private:
  std::set<SnapshotView> views_;
  std::string disk_;
  u64 headers_ = 0;          // since the last summary
  bool ended_ = false;       // the last line was a summary
  bool incomplete_ = false;  // a snapshot before
  bool several_disks_ = false;
  bool several_ = false;
};

}  // namespace coldtrace::ntfs
