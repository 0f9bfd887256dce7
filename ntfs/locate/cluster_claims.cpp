#include "ntfs/locate/cluster_claims.hpp"

#include <algorithm>

#include "coldtrace/ntfs/cluster_marks.hpp"

namespace coldtrace::ntfs {

ClusterClaims find_cluster_claims(const Mft& mft, const RecordTable& records,
                                  std::span<const u64> clusters, std::size_t most) {
  ClusterClaims found;
  found.more.resize(clusters.size());
  OpenPlaces open{clusters.size()};
  std::vector<std::size_t> counts(clusters.size());
  RecordFacts facts;
  for (const bool in_use : {true, false}) {
    for (u64 record = 0; record < records.size(); ++record) {
      if (!records.has(record) || records.summary(record).in_use != in_use) continue;
      records.unpack(record, facts);
      for_each_run(facts, mft.clusters(), [&](u64 start, u64 end) {
        auto place = open.first(
            static_cast<std::size_t>(std::ranges::lower_bound(clusters, start) - clusters.begin()));
        for (; place < clusters.size() && clusters[place] < end; place = open.first(place + 1)) {
          if (counts[place]++ < most) {
            found.claims.push_back({place, record});
          } else {
            found.more[place] = true;
            open.close(place);
          }
        }
      });
    }
  }
  return found;
}

}  // namespace coldtrace::ntfs
