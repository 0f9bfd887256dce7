#include "coldtrace/trace_analysis/records/losses.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "tracefile/analysis/records/switch_chains.hpp"

namespace coldtrace::trace_analysis {
namespace {

constexpr auto before_all = std::numeric_limits<i64>::min();
constexpr auto after_all = std::numeric_limits<i64>::max();

bool is_same(const Stretch& a, const Stretch& b) {
  return a.from == b.from && a.to == b.to;
}

void merge(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  std::size_t kept = 0;
  for (const auto& stretch : stretches) {
    // Of one at a single tick nothing tells on which side of it an event of that tick lies.
    const bool is_point = stretch.from == stretch.to;
    if (kept > 0 &&
        (is_point ? stretch.to < stretches[kept - 1].to || is_same(stretch, stretches[kept - 1])
                  : stretch.from <= stretches[kept - 1].to))
      stretches[kept - 1].to = std::max(stretches[kept - 1].to, stretch.to);
    else
      stretches[kept++] = stretch;
  }
  stretches.resize(kept);
}

// All of them, in order and apart.
std::vector<Stretch> together(const std::map<u16, std::vector<Stretch>>& of_cpu,
                              std::vector<Stretch> all) {
  for (const auto& [cpu, stretches] : of_cpu)
    all.insert(all.end(), stretches.begin(), stretches.end());
  merge(all);
  return all;
}

// The last times of a processor that came in order. Behind a time that is too late come smaller
// ones, which say so.
class Ascending {
 public:
  // From where to where something is wrong; nothing where the time is not before the last one.
  std::optional<Stretch> add(i64 time) {
    std::optional<Stretch> wrong;
    while (!times_.empty() && times_.back() > time) {
      wrong = Stretch{before_all, time};
      times_.pop_back();
    }
    if (wrong && !times_.empty()) wrong->from = times_.back();
    if (times_.size() == most) times_.erase(times_.begin(), times_.begin() + most / 2);
    times_.push_back(time);
    return wrong;
  }

 private:
  static constexpr std::ptrdiff_t most = 64;
  std::vector<i64> times_;
};

// Times of one buffer's events.
struct BufferTimes {
  u64 offset;
  i64 first, last;
};

// Follows one processor, or all of them.
struct Line {
  std::optional<i64> last;  // time of its last event
  std::optional<i64> open;  // a gap came after this time, and no event yet
};

// Of a processor alone.
struct ProcessorLine {
  Line line;
  Ascending times;
  // By file, in the order of their first events.
  std::map<u16, std::vector<BufferTimes>> buffers;
  std::set<u16> begun;  // files that had an event of it outside of the header's buffer
};

}  // namespace

// One reading of the trace.
class Losses::Pass {
 public:
  Pass(const tracefile::AnyTrace& trace, Losses& losses)
      : trace_{trace}, losses_{losses}, chains_{trace.schemas()} {}

  void add(const tracefile::Event& event) {
    const auto time = event.name_time();
    if (!first_) first_ = time;
    losses_.first_ = std::min(losses_.first_.value_or(time), time);
    if (event.cpu) {
      auto& processor =
          processors_.try_emplace(*event.cpu, ProcessorLine{unseen_, {}, {}, {}}).first->second;
      auto& lost = losses_.of_cpu_[*event.cpu];
      // The header's buffer is never overwritten.
      if (event.buffer_offset != 0 && processor.begun.insert(event.file).second &&
          is_wrapped_on(*event.cpu, event.file))
        lost.push_back({before_all, time});
      if (const auto wrong = processor.times.add(time)) lost.push_back(*wrong);
      pass(processor.line, time, lost);
      note_buffer(processor.buffers[event.file], event.buffer_offset, time);
    }
    pass(shared_, time, losses_.shared_);
    chains_.add(event);
  }

  void add(const tracefile::Gap& gap) {
    if (trace_.etl() != nullptr && gap.reason == tracefile::Gap::Reason::buffers_missing) return;
    if (!gap.timestamp) {
      timeless_.push_back(gap);
      return;
    }
    const auto open = [&](Line& line) {
      const auto before = line.last ? line.last : first_;
      if (!line.open) line.open = before.value_or(before_all);
    };
    if (gap.cpu) {
      open(processors_.try_emplace(*gap.cpu).first->second.line);
      return;
    }
    for (auto& [cpu, processor] : processors_) open(processor.line);
    open(shared_);
    open(unseen_);
  }

  void finish() {
    if (shared_.open) losses_.shared_.push_back({*shared_.open, after_all});
    for (const auto& [cpu, processor] : processors_)
      if (processor.line.open) losses_.of_cpu_[cpu].push_back({*processor.line.open, after_all});
    for (const auto& gap : timeless_) close(gap);
    losses_.broken_of_cpu_ = chains_.broken();
    losses_.backward_switches_ = chains_.backward();
    for (const auto& [cpu, stretches] : chains_.broken())
      losses_.broken_chains_ += stretches.size();
  }

 private:
  using Processors = std::map<u16, ProcessorLine>;

  static void pass(Line& line, i64 time, std::vector<Stretch>& lost) {
    if (line.open) lost.push_back({*line.open, time});
    line = {time, std::nullopt};
  }

  bool is_wrapped_on(u16 cpu, u16 file) const {
    return trace_.etl() != nullptr ? trace_.etl()->files()[file].scan.overwritten
                                   : trace_.ctrace()->parts()[file].begins_late.contains(cpu);
  }

  static void note_buffer(std::vector<BufferTimes>& buffers, u64 offset, i64 time) {
    if (buffers.empty() || buffers.back().offset != offset) buffers.push_back({offset, time, time});
    auto& last = buffers.back();
    last.first = std::min(last.first, time);
    last.last = std::max(last.last, time);
  }

  // The header of an .etl file alone counts it: what is lost may lie anywhere.
  bool is_unplaced(const tracefile::Gap& gap) const {
    using Reason = tracefile::Gap::Reason;
    return trace_.etl() != nullptr && !gap.cpu &&
           (gap.reason == Reason::events_lost || gap.reason == Reason::buffers_lost);
  }

  // A .ctrace file numbers the buffers of each processor apart: a lost one may be all that there
  // was of a processor.
  void close(const tracefile::Gap& gap) {
    if (is_unplaced(gap)) {
      losses_.shared_.push_back({before_all, after_all});
      return;
    }
    if (gap.cpu && processors_.count(*gap.cpu) == 0)
      losses_.of_cpu_[*gap.cpu].push_back({before_all, after_all});
    if (!gap.cpu && trace_.ctrace() != nullptr &&
        processors_.size() < trace_.ctrace()->header().processors)
      losses_.shared_.push_back({before_all, after_all});
    for (auto& [cpu, processor] : processors_)
      if (!gap.cpu || *gap.cpu == cpu)
        bracket(gap, processor.buffers[gap.file], losses_.of_cpu_[cpu]);
  }

  // What the gap has lost lies between the buffers around it; one that it lies in is not sound
  // itself. In a circular file the one behind it may be the older one.
  static void bracket(const tracefile::Gap& gap, const std::vector<BufferTimes>& buffers,
                      std::vector<Stretch>& lost) {
    const BufferTimes* before = nullptr;
    const BufferTimes* around = nullptr;
    const BufferTimes* after = nullptr;
    for (const auto& buffer : buffers) {
      if (buffer.offset > gap.offset) {
        if (after == nullptr || buffer.offset < after->offset) after = &buffer;
      } else if (around == nullptr || buffer.offset > around->offset) {
        before = around;
        around = &buffer;
      } else if (before == nullptr || buffer.offset > before->offset) {
        before = &buffer;
      }
    }
    if (!gap.cpu) before = around;
    const auto from = before != nullptr ? before->last : before_all;
    const auto to = after != nullptr ? after->first : after_all;
    if (from <= to) {
      lost.push_back({from, to});
    } else {
      lost.push_back({before_all, to});
      lost.push_back({from, after_all});
    }
  }

  const tracefile::AnyTrace& trace_;
  Losses& losses_;
  SwitchChains chains_;
  Processors processors_;
  Line shared_;
  Line unseen_;  // a processor without an event so far
  std::optional<i64> first_;
  std::vector<tracefile::Gap> timeless_;
};

// Buffers are numbered as they are written. Nothing says of which processor a missing one is, nor
// one whose processor is not known: of each, its events lie between those of the processor's
// buffers before and after it.
void Losses::add_missing_buffers(const tracefile::BufferScan& scan) {
  const auto behind = tracefile::offsets_behind_missing(scan);
  const bool all_known = std::all_of(scan.buffers.begin(), scan.buffers.end(),
                                     [](const auto& entry) { return entry.processor_known; });
  if (behind.empty() && all_known) return;
  std::vector<const tracefile::BufferEntry*> buffers;
  for (const auto& entry : scan.buffers)
    if (entry.events != 0 || behind.count(entry.offset) != 0) buffers.push_back(&entry);
  std::sort(buffers.begin(), buffers.end(), tracefile::is_written_before);
  struct Processor {
    i64 last = before_all;
    std::size_t holes = 0;  // that came before its last buffer
  };
  // All processors where they share buffers.
  const auto lost_of = [&](std::optional<u16> cpu) -> auto& {
    return cpu ? of_cpu_[*cpu] : shared_;
  };
  std::map<std::optional<u16>, Processor> processors;
  std::size_t holes = 0;
  for (const auto* const entry : buffers) {
    holes += behind.count(entry->offset);
    if (entry->events == 0) continue;
    const auto cpu = processor_of(*entry, scan);
    if (!entry->processor_known) {
      ++holes;
      lost_of(cpu).push_back({entry->first_time, entry->last_time});
      continue;
    }
    auto& processor = processors[cpu];
    if (processor.holes < holes) lost_of(cpu).push_back({processor.last, entry->first_time});
    processor = {entry->last_time, holes};
  }
  if (!behind.empty() && *behind.rbegin() > scan.buffers.back().offset) ++holes;  // at the end
  for (const auto& [cpu, processor] : processors)
    if (processor.holes < holes) lost_of(cpu).push_back({processor.last, after_all});
}

Losses Losses::find(const tracefile::AnyTrace& trace, const tracefile::StreamOptions& options) {
  Losses losses;
  if (trace.etl() != nullptr)
    for (const auto& file : trace.etl()->files()) losses.add_missing_buffers(file.scan);
  Pass pass{trace, losses};
  using Item = tracefile::EventSequence::Item;
  const auto events = trace.stream(options);
  for (auto item = events->next(); item != Item::end; item = events->next()) {
    if (item == Item::gap)
      pass.add(events->gap());
    else
      pass.add(events->event());
  }
  losses.unread_buffers_ = events->unread_buffers();
  pass.finish();
  merge(losses.shared_);
  for (auto& [cpu, stretches] : losses.of_cpu_) merge(stretches);
  for (auto& [cpu, stretches] : losses.broken_of_cpu_) merge(stretches);
  losses.all_ = together(losses.of_cpu_, losses.shared_);
  losses.broken_ = together(losses.broken_of_cpu_, {});
  return losses;
}

bool Losses::on(u16 cpu, i64 from, i64 to) const {
  if (overlaps(shared_, from, to)) return true;
  const auto own = of_cpu_.find(cpu);
  return own != of_cpu_.end() && overlaps(own->second, from, to);
}

bool Losses::is_runner_known(u16 cpu, i64 time) const {
  const auto own = broken_of_cpu_.find(cpu);
  if (own == broken_of_cpu_.end()) return true;
  const auto& stretches = own->second;
  const auto after = std::partition_point(stretches.begin(), stretches.end(),
                                          [&](const Stretch& one) { return one.to < time; });
  return after == stretches.end() || after->from >= time;
}

// What lies between two events is lost even where both have the same time.
bool Losses::overlaps(const std::vector<Stretch>& stretches, i64 from, i64 to) {
  auto one = std::partition_point(stretches.begin(), stretches.end(),
                                  [&](const Stretch& stretch) { return stretch.to < from; });
  for (; one != stretches.end() && one->from <= to; ++one)
    if ((one->from < to && one->to > from) || one->from == one->to) return true;
  return false;
}

}  // namespace coldtrace::trace_analysis
