#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Places, by number, that may get more owners. Closed ones are skipped, at a cost that is paid
// once.
class OpenPlaces {
 public:
  explicit OpenPlaces(std::size_t count) : next_(count + 1) {
    std::iota(next_.begin(), next_.end(), std::size_t{0});
  }

  // The first open one from `at` on; the number of places if there is none.
  std::size_t first(std::size_t at) {
    while (next_[at] != at) at = next_[at] = next_[next_[at]];
    return at;
  }
  void close(std::size_t at) { next_[at] = at + 1; }

 private:
  std::vector<std::size_t> next_;
};

// A record whose run list contains the cluster of a place.
struct ClusterClaim {
  std::size_t place;
  u64 record;
};

// Who claims the clusters, which are in order: records in use before the others, at most `most` per
// place; `more` has the places with more.
struct ClusterClaims {
  std::vector<ClusterClaim> claims;
  std::vector<bool> more;
};
ClusterClaims find_cluster_claims(const Mft& mft, const RecordTable& records,
                                  std::span<const u64> clusters, std::size_t most);

}  // namespace coldtrace::ntfs
