#include "coldtrace/tracefile/etl/kind_counts.hpp"

namespace coldtrace::tracefile {

std::string_view KindCount::undecoded_reason(Decoded decoded) const {
  if (decoded == Decoded::trailing) return "longer_than_schema";
  if (decoded == Decoded::partial) return "shorter_than_schema";
  return to_string(kind.undecoded);
}

std::string_view KindCount::undecoded_reason() const {
  if (kind.undecoded != Undecoded::none) return to_string(kind.undecoded);
  for (const auto decoded : {Decoded::partial, Decoded::trailing})
    if (events[static_cast<std::size_t>(decoded)] > 0) return undecoded_reason(decoded);
  return {};
}

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
