#include "coldtrace/tracefile/etl/kind_counts.hpp"

namespace coldtrace::tracefile {

void KindCounts::add(const KindCount& count) {
  const auto& kind = count.kind;
  auto& entry = counts_[{kind.provider, kind.event_class, kind.id, kind.version, kind.name,
                         kind.provider_name}];
  entry.kind = kind;
  for (std::size_t i = 0; i < entry.events.size(); ++i) entry.events[i] += count.events[i];
}

std::vector<KindCount> KindCounts::sorted() const {
  std::vector<KindCount> all;
  for (const auto& [key, count] : counts_) all.push_back(count);
  return all;
}

void KindCounter::add_to(KindCounts& counts) const {
  for (const auto& count : counts_)
    if (count.total() > 0) counts.add(count);
}

}  // namespace coldtrace::tracefile
