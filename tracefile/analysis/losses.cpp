#include "coldtrace/trace_analysis/losses.hpp"

#include <algorithm>
#include <set>

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

constexpr auto before_all = std::numeric_limits<i64>::min();
constexpr auto after_all = std::numeric_limits<i64>::max();

}  // namespace

// Buffers are numbered as they are written. Nothing says of which processor a missing one is: of
// each, its events lie between those of the processor's buffers before and after it.
void Losses::add_missing_buffers(const tracefile::BufferScan& scan) {
  std::set<u64> behind;  // offsets of the buffers that come behind missing ones
  for (const auto& gap : scan.gaps)
    if (gap.reason == tracefile::Gap::Reason::buffers_missing) behind.insert(gap.offset);
  if (behind.empty()) return;
  std::vector<const tracefile::BufferEntry*> buffers;
  for (const auto& entry : scan.buffers)
    if (entry.events != 0 || behind.count(entry.offset) != 0) buffers.push_back(&entry);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  struct Processor {
    i64 last = before_all;
    std::size_t holes = 0;  // that came before its last buffer
  };
  std::map<u16, Processor> processors;
  std::size_t holes = 0;
  for (const auto* const entry : buffers) {
    holes += behind.count(entry->offset);
    if (entry->events == 0) continue;
    auto& processor = processors[entry->processor];
    if (processor.holes < holes)
      of_cpu_[entry->processor].push_back({processor.last, entry->first_time});
    processor = {entry->last_time, holes};
  }
  for (const auto& [cpu, processor] : processors)
    if (processor.holes < holes) of_cpu_[cpu].push_back({processor.last, after_all});
}

Losses Losses::find(const tracefile::AnyTrace& trace, const tracefile::StreamOptions& options) {
  Losses losses;
  const auto& gaps =
      trace.etl() != nullptr ? trace.etl()->scan().gaps : trace.ctrace()->scan().gaps;
  if (gaps.empty()) return losses;
  if (trace.etl() != nullptr) losses.add_missing_buffers(trace.etl()->scan());
  using Item = tracefile::EventSequence::Item;
  std::map<u16, Line> lines;
  Line shared;
  Line unseen;  // a processor without an event so far
  std::optional<i64> first;
  const auto events = trace.stream(options);
  for (auto item = events->next(); item != Item::end; item = events->next()) {
    if (item == Item::gap) {
      const auto& gap = events->gap();
      if (trace.etl() != nullptr && gap.reason == tracefile::Gap::Reason::buffers_missing) continue;
      if (!gap.timestamp) {
        ++losses.without_time_;
        continue;
      }
      const auto open = [&](Line& line) {
        const auto before = line.last ? line.last : first;
        if (!line.open) line.open = before.value_or(before_all);
      };
      if (gap.cpu) {
        open(lines[*gap.cpu]);
        continue;
      }
      for (auto& [cpu, line] : lines) open(line);
      open(shared);
      open(unseen);
      continue;
    }
    const auto time = events->event().name_time();
    if (!first) first = time;
    const auto pass = [&](Line& line, std::vector<Stretch>& stretches) {
      if (line.open) stretches.push_back({*line.open, time});
      line = {time, std::nullopt};
    };
    if (const auto cpu = events->event().cpu)
      pass(lines.try_emplace(*cpu, unseen).first->second, losses.of_cpu_[*cpu]);
    pass(shared, losses.shared_);
  }
  if (shared.open) losses.shared_.push_back({*shared.open, after_all});
  for (const auto& [cpu, line] : lines)
    if (line.open) losses.of_cpu_[cpu].push_back({*line.open, after_all});
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
