#include "coldtrace/ntfs/journal/journal_stream.hpp"

#include <algorithm>

#include "coldtrace/ntfs/journal/usn_record.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 round_down(u64 value, u64 unit) {
  return value / unit * unit;
}

// Below 2^63, as positions of streams are.
constexpr u64 round_up(u64 value, u64 unit) {
  return round_down(value + unit - 1, unit);
}

}  // namespace

// Appends the pages from `start` to `end`, of which the last block may have some.
void JournalStream::add_pages(u64 start, u64 end) {
  start = round_down(start, UsnRecord::page_size);
  end = std::min(round_up(end, UsnRecord::page_size), size_);
  if (!blocks_.empty()) start = std::max(start, blocks_.back().offset + blocks_.back().length);
  while (start < end) {
    const u64 stop = std::min(end, round_down(start, block_size) + block_size);
    auto* const last = blocks_.empty() ? nullptr : &blocks_.back();
    if (last && last->offset + last->length == start && start % block_size != 0)
      last->length += stop - start;
    else
      blocks_.push_back({start, stop - start});
    start = stop;
  }
}

JournalStream JournalStream::of_file(core::Borrowed<core::ImageSource> given) {
  const auto& file = given.get();
  JournalStream stream{file, file.available()};
  for (u64 at = file.next_data(0); at < stream.size_;) {
    const u64 end = std::min(round_down(at, block_size) + block_size, stream.size_);
    stream.add_pages(at, end);
    at = file.next_data(end);
  }
  return stream;
}

JournalStream JournalStream::of_volume(core::Borrowed<core::ImageSource> image,
                                       const ClusterMap& clusters, std::vector<Extent> extents,
                                       u64 size, core::Findings& findings) {
  JournalStream stream{image, 0};
  stream.clusters_ = clusters;
  stream.extents_ = std::move(extents);
  u64 room = image.get().size();
  constexpr u64 largest = u64{1} << 62;
  for (const auto& extent : stream.extents_) {
    const u64 start = core::saturating_multiply(extent.vcn, clusters.cluster_size);
    const u64 end = std::min(
        {core::saturating_multiply(extent.end_vcn(), clusters.cluster_size), size, largest});
    if (start >= end) break;
    stream.size_ = end;
    if (!extent.lcn) continue;
    if (end - start > room) {
      findings.warning("journal-runs", stream.offset_of(start),
                       "the run list of $J maps more than the image has; what follows byte {:#x} "
                       "of the stream is left out",
                       start);
      break;
    }
    room -= end - start;
    stream.add_pages(start, end);
  }
  return stream;
}

}  // namespace coldtrace::ntfs
