#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

// Consecutive clusters.
struct ClusterRange {
  u64 start;  // LCN
  u64 end;
};

// Sorts and joins them, so that they do not touch.
void normalize(std::vector<ClusterRange>& ranges);

// Calls `visit(start, end)` for each run of a record that is inside the volume.
template <class Visit>
void for_each_run(const RecordFacts& facts, const ClusterMap& map, Visit&& visit) {
  for (const auto& attribute : facts.attributes) {
    if (attribute.resident) continue;
    DataRunReader runs{attribute.runs, 0};
    while (const auto run = runs.next())
      if (run->start && map.contains(*run->start, run->clusters))
        visit(static_cast<u64>(*run->start), static_cast<u64>(*run->start) + run->clusters);
  }
}

// Which clusters the records in use have, with one bit for each cluster in the image: 32 MiB per
// TiB with clusters of 4 KiB, of which, above 64 MiB, only touched parts take memory. Finds
// clusters that two records have.
class ClusterMarks {
 public:
  ClusterMarks(core::Borrowed<ClusterMap> clusters, u64 image_size);

  // False if there is no memory for the bits; nothing is marked then.
  [[nodiscard]] bool usable() const { return memory_ != nullptr; }

  // Marks the clusters of a record in use. Safe to call from several threads.
  void mark(const RecordFacts& facts);

  // True if a cluster of the range is marked.
  [[nodiscard]] bool any(ClusterRange range) const;

  // Every cluster that was marked twice is in one of these, possibly with others.
  [[nodiscard]] const std::vector<ClusterRange>& marked_again() const { return marked_again_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  const ClusterMap& map_;
  u64 clusters_;
  std::unique_ptr<void, Free> memory_;
  u64* words_ = nullptr;  // in it, from a huge page on
  std::mutex mutex_;
  std::vector<ClusterRange> marked_again_;
};

}  // namespace coldtrace::ntfs
