#include "coldtrace/trace_analysis/comparison/trace_comparison.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace coldtrace::trace_analysis {
namespace {

__extension__ typedef unsigned __int128 Wide;

Wide distance(Wide a, Wide b) {
  return a > b ? a - b : b - a;
}

// Whether b is further from a than so many percent of a.
bool differs(Wide a, Wide b, u32 threshold) {
  return distance(a, b) * 100 > a * threshold;
}

auto key_of(const KindTally& kind) {
  return std::tuple{kind.provider, kind.event_class, kind.number,
                    kind.number ? std::string{} : kind.name};
}

auto key_of(const PairTally& pair) {
  return std::tuple{pair.provider, pair.task, pair.task ? std::string{} : pair.name};
}

template <class Tally>
auto index(const std::vector<Tally>& tallies) {
  std::map<decltype(key_of(tallies.front())), const Tally*> by_key;
  for (const auto& tally : tallies) by_key.emplace(key_of(tally), &tally);
  return by_key;
}

// The names that one trace knows are those of both.
KindTally named(KindTally kind, const KindTally& other) {
  if (kind.name.empty()) kind.name = other.name;
  if (kind.provider_name.empty()) kind.provider_name = other.provider_name;
  return kind;
}

void add_kinds(const TraceTally& a, const TraceTally& b, const ComparisonOptions& options,
               TraceComparison& comparison) {
  const auto of_b = index(b.kinds);
  const auto of_a = index(a.kinds);
  // Rates of both are multiplied by both durations.
  const bool by_rate = options.by_rate && a.duration.value_or(0) > 0 && b.duration.value_or(0) > 0;
  const Wide scale_a = by_rate ? *b.duration : 1;
  const Wide scale_b = by_rate ? *a.duration : 1;
  for (const auto& kind : a.kinds) {
    const auto found = of_b.find(key_of(kind));
    if (found == of_b.end())
      comparison.kinds.push_back({Change::disappeared, kind, kind.events, 0});
    else if (differs(scale_a * kind.events, scale_b * found->second->events, options.threshold))
      comparison.kinds.push_back(
          {Change::changed, named(kind, *found->second), kind.events, found->second->events});
    else
      ++comparison.same_kinds;
  }
  for (const auto& kind : b.kinds)
    if (of_a.find(key_of(kind)) == of_a.end())
      comparison.kinds.push_back({Change::appeared, kind, 0, kind.events});
  const auto order = [](Change change) {
    return change == Change::disappeared ? 0 : change == Change::appeared ? 1 : 2;
  };
  const auto by = [&](const KindDifference& one) {
    const u64 by_how_much =
        one.before > one.after ? one.before - one.after : one.after - one.before;
    return std::tuple{order(one.change), ~by_how_much,  one.kind.provider_name,
                      one.kind.provider, one.kind.name, one.kind.event_class,
                      one.kind.number};
  };
  std::ranges::stable_sort(comparison.kinds, {}, by);
}

void add_pairs(const TraceTally& a, const TraceTally& b, const ComparisonOptions& options,
               TraceComparison& comparison) {
  const auto of_b = index(b.pairs);
  const auto mean = [](const PairTally& pair) { return static_cast<u64>(pair.mean()); };
  for (const auto& pair : a.pairs) {
    const auto found = of_b.find(key_of(pair));
    if (found == of_b.end()) continue;
    if (differs(mean(pair), mean(*found->second), options.threshold))
      comparison.pairs.push_back({pair, *found->second});
    else
      ++comparison.same_pairs;
  }
  std::ranges::stable_sort(comparison.pairs, std::greater{}, [&](const PairDifference& one) {
    return options.order == RowOrder::count ? distance(one.before.pairs, one.after.pairs)
                                            : distance(mean(one.before), mean(one.after));
  });
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::appeared:
      return "appeared";
    case Change::disappeared:
      return "disappeared";
    default:
      return "changed";
  }
}

TraceComparison compare(const TraceTally& a, const TraceTally& b,
                        const ComparisonOptions& options) {
  TraceComparison comparison;
  add_kinds(a, b, options, comparison);
  add_pairs(a, b, options, comparison);
  return comparison;
}

std::optional<u64> rate_of(u64 events, const TraceTally& tally) {
  constexpr Wide thousandths = Wide{10'000'000} * 1'000;
  if (tally.duration.value_or(0) == 0) return std::nullopt;
  const auto rate = events * thousandths / *tally.duration;
  return static_cast<u64>(std::min<Wide>(rate, std::numeric_limits<u64>::max()));
}

}  // namespace coldtrace::trace_analysis
