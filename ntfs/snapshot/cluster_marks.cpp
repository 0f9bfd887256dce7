#include "coldtrace/ntfs/cluster_marks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "coldtrace/ntfs/packed.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 bits = 64;  // of a word

// Calls `visit(word, mask)` for the words of a range until it says false.
template <class Visit>
void for_each_word(ClusterRange range, Visit&& visit) {
  for (u64 at = range.start; at < range.end;) {
    const u64 first = at % bits;
    const u64 count = std::min(bits - first, range.end - at);
    if (!visit(at / bits, ~u64{0} >> (bits - count) << first)) return;
    at += count;
  }
}

}  // namespace

void normalize(std::vector<ClusterRange>& ranges) {
  std::ranges::sort(ranges, {}, &ClusterRange::start);
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].start <= ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

ClusterMarks::ClusterMarks(core::Borrowed<ClusterMap> clusters, u64 image_size)
    : map_{clusters.get()}, clusters_{std::min(map_.clusters, image_size / map_.cluster_size + 1)} {
  constexpr u64 most_in_huge_pages = u64{64} << 20;
  const u64 size = (clusters_ / bits + 1) * sizeof(u64);
  // Not zeroed again where it is new: what is never touched costs nothing.
  memory_.reset(std::calloc(size + Arena::chunk_size, 1));
  void* start = memory_.get();
  u64 space = size + Arena::chunk_size;
  words_ = static_cast<u64*>(std::align(Arena::chunk_size, size, start, space));
  // Instead of a page fault for every few files (bench/compare-python).
  if (usable() && size >= Arena::chunk_size && size <= most_in_huge_pages)
    advise_huge_pages(words_, space);
}

void ClusterMarks::mark(const RecordFacts& facts) {
  if (!usable()) return;
  for_each_run(facts, map_, [&](u64 start, u64 end) {
    // What is behind a cluster that is marked is not marked: so the work is bounded by the
    // clusters and the runs.
    for_each_word({start, std::min(end, clusters_)}, [&](u64 word, u64 mask) {
      const std::atomic_ref<u64> place{words_[word]};
      const u64 known = place.fetch_or(mask, std::memory_order_relaxed) & mask;
      if (known == 0) return true;
      const std::scoped_lock lock{mutex_};
      marked_again_.push_back({word * bits + static_cast<u64>(std::countr_zero(known)), end});
      return false;
    });
  });
}

bool ClusterMarks::any(ClusterRange range) const {
  bool found = false;
  if (!usable()) return found;
  for_each_word({range.start, std::min(range.end, clusters_)}, [&](u64 word, u64 mask) {
    found = (words_[word] & mask) != 0;
    return !found;
  });
  return found;
}

}  // namespace coldtrace::ntfs
