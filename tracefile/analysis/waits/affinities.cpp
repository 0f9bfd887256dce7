#include "coldtrace/trace_analysis/waits/affinities.hpp"

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

std::optional<u64> in_common(std::optional<u64> one, std::optional<u64> other) {
  if (!one || !other) return std::nullopt;
  return *one & *other;
}

}  // namespace

void Affinities::set(Index thread, i64 time, std::optional<u64> processors) {
  auto& changes = grown(changes_, thread);
  if (!changes.empty() && changes.back().processors == processors) return;
  if (changes.size() == most_changes) {
    changes[0].processors = in_common(changes[0].processors, changes[1].processors);
    changes.erase(changes.begin() + 1);
  }
  changes.push_back({time, processors});
}

std::optional<u64> Affinities::find(Index thread, i64 from, i64 to) const {
  if (thread >= changes_.size() || changes_[thread].empty()) return std::nullopt;
  const auto& changes = changes_[thread];
  auto change = changes.begin();
  while (std::next(change) != changes.end() && std::next(change)->time <= from) ++change;
  auto processors = change->processors;
  for (++change; change != changes.end() && change->time < to; ++change)
    processors = in_common(processors, change->processors);
  return processors;
}

}  // namespace coldtrace::trace_analysis
