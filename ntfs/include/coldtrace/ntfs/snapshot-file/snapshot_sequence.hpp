#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// The view of a volume to which rows of a snapshot belong, from its first line; 0 is none.
struct SnapshotView {
  u64 offset;  // of the partition
  u32 partition;
  u32 shadow_copy;
  auto operator<=>(const SnapshotView&) const = default;
};

// The result of reading the lines of a file.
struct ReadLines {
  bool to_end = true;  // of the file
  u64 damaged = 0;     // lines that could not be used
};

// Checks whether the lines of a file, in their order, are whole snapshots of one run: views of
// volumes of one disk, each once, and no summary between them.
class SnapshotSequence {
 public:
  // The line that begins a view. `disk` is its data about the disk, the same in all of a run.
  void add_header(const SnapshotView& view, std::string_view disk);
  // A line for a name or for a gap.
  void add_row();
  // The last line of a snapshot: the number of views that it counts, if it does, and whether it
  // says that it is complete.
  void add_summary(std::optional<u64> views, bool is_complete);

  // Each snapshot of the file, which may contain several in sequence, has its header, followed
  // after its rows by a summary that says that it is complete and counts as many views as there are
  // headers.
  [[nodiscard]] bool complete() const { return ended_ && !incomplete_; }
  // No snapshot was truncated, nor was the file.
  [[nodiscard]] bool complete(const ReadLines& lines) const { return complete() && lines.to_end; }
  // In addition, all lines could be read.
  [[nodiscard]] bool whole(const ReadLines& lines) const {
    return complete(lines) && lines.damaged == 0;
  }
  // The finding if they are not complete: `snapshot-incomplete`.
  void report_whole(const ReadLines& lines, core::Findings& findings) const;
  // Why the snapshots are not of one run; empty if they are.
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
