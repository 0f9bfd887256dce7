#include "coldtrace/trace_analysis/scheduling/schedule.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

void add_wait(ThreadSchedule& thread, u8 reason, i64 time) {
  auto at = std::lower_bound(thread.waits.begin(), thread.waits.end(), reason,
                             [](const WaitSum& sum, u8 key) { return sum.reason < key; });
  if (at == thread.waits.end() || at->reason != reason) at = thread.waits.insert(at, {reason});
  ++at->count;
  add_ticks(at->time, time);
  at->longest = std::max(at->longest, time);
}

template <class... Ticks>
i64 told(Ticks... ticks) {
  i64 sum = 0;
  (add_ticks(sum, ticks), ...);
  return sum;
}

void add_priority(ThreadSchedule& thread, std::optional<i8> priority) {
  if (priority && *priority >= 0 && *priority < 32) thread.priorities |= 1U << unsigned(*priority);
}

}  // namespace

Schedule::Schedule(Turns::Sink each_turn)
    : turns_{[this](const Turn& turn) { add(turn); }}, each_turn_{std::move(each_turn)} {}

ThreadSchedule& Schedule::thread(Index index) {
  return grown(threads_, index);
}

void Schedule::seen(Index index, i64 time) {
  auto& one = thread(index);
  if (!one.first) one.first = time;
  one.last = std::max(one.last.value_or(time), time);
}

void Schedule::on_switch(const ContextSwitch& record) {
  seen(record.old_thread, record.moment.time);
  seen(record.new_thread, record.moment.time);
  turns_.on_switch(record);
}

void Schedule::on_ready(const Readied& record) {
  if (!thread(record.thread).first) seen(record.thread, record.moment.time);
  turns_.on_ready(record);
}

void Schedule::on_thread(const ThreadRecord& record) {
  if (record.life == Life::begins) seen(record.thread, record.moment.time);
  turns_.on_thread(record);
}

void Schedule::add(const Turn& turn) {
  auto& one = thread(turn.thread);
  ++one.turns;
  add_priority(one, turn.in_priority);
  add_priority(one, turn.out_priority);
  add_priority(one, turn.left_priority);
  add_absence(one, turn);
  auto& processor = processors_[turn.cpu];
  ++processor.turns;
  if (turn.end) {
    const auto time = ticks_between(turn.begin, *turn.end);
    add_ticks(one.running, time);
    const bool idle = population_->threads()[turn.thread].idle_of.has_value();
    add_ticks(idle ? processor.idle : processor.busy, time);
  }
  if (each_turn_) each_turn_(turn);
}

void Schedule::add_absence(ThreadSchedule& one, const Turn& turn) const {
  const auto absence = absence_before(turn);
  add_ticks(one.off, absence.off.value_or(0));
  add_ticks(one.swapped, absence.swapped.value_or(0));
  add_ticks(one.created, absence.created.value_or(0));
  if (absence.waiting) {
    add_ticks(one.waiting, *absence.waiting);
    if (turn.wait_reason) add_wait(one, *turn.wait_reason, *absence.waiting);
  }
  if (absence.ready) {
    add_ticks(one.ready, *absence.ready);
    one.ready_latency.add(static_cast<u64>(*absence.ready));
  }
}

void Schedule::finish(const Observed& observed) {
  turns_.finish(observed);
  elapsed_ = observed.first ? ticks_between(*observed.first, *observed.last) : 0;
  for (std::size_t cpu = 0; cpu < turns_.processors(); ++cpu) {
    const auto number = static_cast<u16>(cpu);
    if (!turns_.first_switch(number)) continue;
    auto& one = processors_[number];
    one.first_switch = turns_.first_switch(number);
    one.last_switch = turns_.last_switch(number);
    one.breaks = turns_.breaks(number);
    one.unknown = std::max<i64>(0, elapsed_ - told(one.busy, one.idle));
  }
  for (auto& one : threads_) {
    if (!one.first) continue;
    // Damage can put a thread on two processors at once.
    one.unknown = std::max<i64>(
        0, ticks_between(*one.first, *one.last) -
               told(one.running, one.ready, one.waiting, one.off, one.swapped, one.created));
  }
}

}  // namespace coldtrace::trace_analysis
