#include "coldtrace/trace_analysis/losses.hpp"

#include <algorithm>

namespace coldtrace::trace_analysis {
namespace {

using Stretch = Losses::Stretch;

void merge(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
  std::size_t kept = 0;
  for (const auto& stretch : stretches) {
    if (kept > 0 && stretch.from <= stretches[kept - 1].to)
      stretches[kept - 1].to = std::max(stretches[kept - 1].to, stretch.to);
    else
      stretches[kept++] = stretch;
  }
  stretches.resize(kept);
}

// Follows one processor, or all of them.
struct Line {
  std::optional<i64> last;  // time of its last event
  std::optional<i64> open;  // a gap came after this time, and no event yet
};

}  // namespace

Losses Losses::find(const tracefile::AnyTrace& trace, const tracefile::StreamOptions& options) {
  Losses losses;
  const auto& gaps =
      trace.etl() != nullptr ? trace.etl()->scan().gaps : trace.ctrace()->scan().gaps;
  if (gaps.empty()) return losses;
  using Item = tracefile::EventSequence::Item;
  std::map<u16, Line> lines;
  Line shared;
  std::optional<i64> first;
  const auto events = trace.stream(options);
  for (auto item = events->next(); item != Item::end; item = events->next()) {
    if (item == Item::gap) {
      const auto& gap = events->gap();
      if (!gap.timestamp) {
        ++losses.without_time_;
        continue;
      }
      auto& line = gap.cpu ? lines[*gap.cpu] : shared;
      const auto before = line.last ? line.last : first;
      if (!line.open) line.open = before.value_or(std::numeric_limits<i64>::min());
      continue;
    }
    const auto time = events->event().name_time();
    if (!first) first = time;
    const auto pass = [&](Line& line, std::vector<Stretch>& stretches) {
      if (line.open) stretches.push_back({*line.open, time});
      line = {time, std::nullopt};
    };
    if (const auto cpu = events->event().cpu) pass(lines[*cpu], losses.of_cpu_[*cpu]);
    pass(shared, losses.shared_);
  }
  constexpr auto end = std::numeric_limits<i64>::max();
  if (shared.open) losses.shared_.push_back({*shared.open, end});
  for (const auto& [cpu, line] : lines)
    if (line.open) losses.of_cpu_[cpu].push_back({*line.open, end});
  losses.all_ = losses.shared_;
  merge(losses.shared_);
  for (auto& [cpu, stretches] : losses.of_cpu_) {
    losses.all_.insert(losses.all_.end(), stretches.begin(), stretches.end());
    merge(stretches);
  }
  merge(losses.all_);
  return losses;
}

bool Losses::on(u16 cpu, i64 from, i64 to) const {
  if (overlaps(shared_, from, to)) return true;
  const auto own = of_cpu_.find(cpu);
  return own != of_cpu_.end() && overlaps(own->second, from, to);
}

// What lies between two events is lost even where both have the same time.
bool Losses::overlaps(const std::vector<Stretch>& stretches, i64 from, i64 to) {
  const auto after = std::partition_point(stretches.begin(), stretches.end(),
                                          [&](const Stretch& one) { return one.to <= from; });
  return after != stretches.end() && after->from < to;
}

}  // namespace coldtrace::trace_analysis
