#include "coldtrace/ntfs/snapshot-file/snapshot_sequence.hpp"

namespace coldtrace::ntfs {
namespace {

// More than the partitions of a table of usual size and 512 shadow copies of each.
constexpr std::size_t most_views = std::size_t{128} * 513;

}  // namespace

void SnapshotSequence::add_header(const SnapshotView& view, std::string_view disk) {
  several_disks_ |= !views_.empty() && disk != disk_;
  disk_ = disk;
  // A summary was read, and its snapshot has ended.
  several_ |= (!views_.empty() && headers_ == 0) || views_.size() == most_views;
  if (!several_ && !several_disks_) several_ = !views_.insert(view).second;
  ++headers_;
  ended_ = false;
}

void SnapshotSequence::add_row() {
  incomplete_ |= headers_ == 0;
  ended_ = false;
}

void SnapshotSequence::add_summary(std::optional<u64> views, bool is_complete) {
  // More headers than views: the first ones are of a snapshot that was cut off.
  incomplete_ |= headers_ == 0 || views.value_or(headers_) != headers_ || !is_complete;
  headers_ = 0;
  ended_ = true;
}

void SnapshotSequence::report_whole(const ReadLines& lines, core::Findings& findings) const {
  if (!whole(lines))
    findings.warning("snapshot-incomplete", std::nullopt,
                     "the snapshot, or one of several in the file, is cut off or damaged (lines "
                     "that could not be read: {}): files are missing",
                     lines.damaged);
}

std::string SnapshotSequence::refusal() const {
  if (views_.size() == most_views) return "more volumes and shadow copies than are read";
  if (several_disks_)
    return "snapshots of several disks, one after the other: give only one of them";
  if (several_) return "several snapshots, one after the other: give only one of them";
  return {};
}

}  // namespace coldtrace::ntfs
