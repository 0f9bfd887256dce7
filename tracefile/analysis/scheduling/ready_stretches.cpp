#include "coldtrace/trace_analysis/scheduling/ready_stretches.hpp"

#include <algorithm>

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void ReadyStretches::turn(const Turn& turn) {
  ++turns_;
  confirm(turn);
  add(turn);
  if (turn.end) grown(left_at_, turn.thread) = turn.ended_at;
}

// Its end, or that nobody knows it, is what stretches have waited for.
void ReadyStretches::confirm(const Turn& turn) {
  const Stay stay{turn.thread,      turn.cpu,          turn.begin, turn.end.value_or(turn.begin),
                  turn.in_priority, turn.out_priority, turn.place};
  if (turn.end) {
    if (recent_.size() == most_recent) recent_.pop_front();
    recent_.push_back(stay);
  }
  if (turn.cpu >= by_cpu_.size()) return;
  for (const auto number : std::exchange(by_cpu_[turn.cpu].awaiting, {})) {
    const auto place = open_.find(number);
    auto& [stretch, awaits] = place->second;
    if (turn.end && has_room(stretch)) stretch.stays.push_back(stay);
    if (--awaits > 0) continue;
    sink_(stretch);
    open_.erase(place);
  }
}

bool ReadyStretches::has_room(const ReadyStretch& stretch) {
  if (stretch.stays.size() < most_stays) return true;
  ++left_out_;
  return false;
}

void ReadyStretches::add(const Turn& next) {
  if (!next.left_priority) return;
  const auto left_with = *next.left_priority;
  const auto came_with = next.in_priority.value_or(left_with);  // it never came back
  ReadyStretch stretch{next.thread,
                       0,
                       next.begin,
                       came_with,
                       std::min(left_with, came_with),
                       std::max(left_with, came_with),
                       next.before == Before::ready,
                       {},
                       {}};
  if (stretch.pushed_off) {
    if (!next.left) return;
    stretch.from = *next.left;
    stretch.priority = left_with;
    if (next.thread < left_at_.size()) stretch.since = left_at_[next.thread];
  } else {
    if (!next.readied || !next.in_priority || next.before == Before::unknown) return;
    stretch.from = *next.readied;
    stretch.since = next.ready_event;
  }
  if (stretch.from >= stretch.to) return;
  std::size_t looked_at = 0;
  for (auto stay = recent_.rbegin(); stay != recent_.rend() && stay->end > stretch.from; ++stay) {
    if (++looked_at > most_stays || ++looked_at_ > most_work * (turns_ + most_stays)) {
      ++left_out_;
      break;
    }
    if (stay->begin < stretch.to && stay->thread != stretch.thread) stretch.stays.push_back(*stay);
  }
  Open open{std::move(stretch), 0};
  const bool waits = open_.size() < most_open;
  for (std::size_t cpu = 0; cpu < by_cpu_.size(); ++cpu) {
    auto& processor = by_cpu_[cpu];
    if (!processor.seen || processor.idle || cpu == next.cpu ||
        processor.turn_begin >= open.stretch.to)
      continue;
    if (waits) processor.awaiting.push_back(next_);
    ++open.awaits;
  }
  if (open.awaits > 0 && waits)
    open_.emplace(next_++, std::move(open));
  else
    sink_(open.stretch);
}

void ReadyStretches::switched(const ContextSwitch& record, const Population& population) {
  const auto cpu = *record.moment.cpu;
  if (cpu >= most_processors) {
    processors_.reset();
    return;
  }
  auto& processor = grown(by_cpu_, cpu);
  if (record.old_thread == record.new_thread && record.continues) return;
  if (!std::exchange(processor.seen, true) && processors_) ++*processors_;
  processor.turn_begin = record.moment.time;
  processor.idle = population.threads()[record.new_thread].idle_of.has_value();
}

// Turns that the trace does not see the end of are told to nobody. Threads that are still ready
// were so until then.
void ReadyStretches::finish(const Turns& turns, const Observed& observed) {
  for (auto& processor : by_cpu_) processor = {};
  std::vector<u64> numbers;
  for (const auto& [number, open] : open_) numbers.push_back(number);
  std::ranges::sort(numbers);
  for (const auto number : numbers) sink_(open_.at(number).stretch);
  open_.clear();
  by_cpu_.clear();
  for (Index i = 0; i < observed.population.threads().size(); ++i) {
    const auto absence = turns.absence_at_end(i, observed.last.value_or(0));
    if (absence && !observed.population.threads()[i].idle_of) add(*absence);
  }
}

}  // namespace coldtrace::trace_analysis
