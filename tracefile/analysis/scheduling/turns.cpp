#include "coldtrace/trace_analysis/scheduling/turns.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

bool is_runnable(ThreadState state) {
  return state == ThreadState::ready || state == ThreadState::running ||
         state == ThreadState::standby || state == ThreadState::deferred_ready;
}

bool is_swapped(ThreadState state) {
  return state == ThreadState::transition || state == ThreadState::process_swapped;
}

}  // namespace

Absence absence_before(const Turn& turn) {
  const auto since = [&](i64 until) { return ticks_between(turn.left.value_or(until), until); };
  Absence absence;
  switch (turn.before) {
    case Before::first:
    case Before::unknown:
      break;
    case Before::off:
      absence.off = since(turn.begin);
      break;
    case Before::swapped:
      absence.swapped = since(turn.begin);
      break;
    case Before::ready:
      absence.ready = since(turn.begin);
      break;
    case Before::created:
      (turn.readied ? absence.created : absence.off) = since(turn.readied.value_or(turn.begin));
      break;
    case Before::waiting:
      absence.waiting = since(*turn.readied);
      break;
  }
  const bool woken = turn.before == Before::waiting || turn.before == Before::created ||
                     turn.before == Before::first;
  if (woken && turn.readied) absence.ready = ticks_between(*turn.readied, turn.begin);
  return absence;
}

void Turns::begin(const Observed& observed) {
  losses_ = &observed.losses;
  population_ = &observed.population;
}

Turns::Follow& Turns::follow(Index thread) {
  return grown(threads_, thread);
}

Turns::Processor& Turns::processor(u16 cpu) {
  return grown(processors_, cpu);
}

void Turns::on_switch(const ContextSwitch& record) {
  auto& on = processor(*record.moment.cpu);
  ++counts_.switches;
  const auto time = record.moment.time;
  const bool goes_back = on.turn && time < on.turn->begin;
  on.first = std::min(on.first.value_or(time), time);
  if (record.old_thread == record.new_thread && record.continues) {
    ++counts_.repeated;
    on.last = std::max(on.last.value_or(time), time);
    return;
  }
  if (on.turn) end_turn(on, record, !on.began_back && !goes_back);
  if (record.old_thread != record.new_thread) leave(record);
  // Where it was since is not known.
  if (goes_back && follow(record.old_thread).where == Where::off) follow(record.old_thread) = {};
  // One that is not older than the last, but than the end of a turn before, is of a time that the
  // processor had already.
  on.began_back = goes_back || (on.last && time < *on.last);
  enter(on, record);
}

void Turns::end_turn(Processor& on, const ContextSwitch& record, bool in_order) {
  auto& turn = *on.turn;
  auto& thread = follow(turn.thread);
  const auto time = record.moment.time;
  const bool is_here = thread.where == Where::running && thread.cpu == turn.cpu;
  if (turn.thread != record.old_thread) {
    ++counts_.broken;
    ++on.breaks;
    // Of where it is since nothing is known, unless it was seen elsewhere meanwhile.
    if (is_here) thread = {};
  } else if (!is_here && thread.since != time) {
    ++counts_.overlapping;
  } else if (in_order && !losses_->on(turn.cpu, turn.begin, time)) {
    turn.end = time;
    on.last = time;
    turn.ended_at = record.moment.place;
    turn.new_thread = record.new_thread;
    turn.out_priority = record.old_priority;
  }
  sink_(turn);
  on.turn.reset();
}

// A thread that is switched in on another processor within the tick of its switch-out, or before
// it, has moved: it is there already, or has left there too.
void Turns::leave(const ContextSwitch& record) {
  const auto time = record.moment.time;
  auto& thread = follow(record.old_thread);
  if (thread.where == Where::running && thread.cpu != *record.moment.cpu) {
    auto& now = processors_[thread.cpu].turn;
    if (thread.since != time || !now || now->thread != record.old_thread) return;
    now->before = Before::ready;
    now->left = time;
    now->left_state = record.old_state;
    now->wait_reason = record.wait_reason;
    now->left_priority = record.old_priority;
    return;
  }
  if (record.continues && thread.where != Where::running) {
    if (thread.since != time) thread = {};
    return;
  }
  const auto early = thread.readied_early;
  thread = {};
  thread.where = Where::off;
  thread.since = time;
  thread.state = record.old_state;
  thread.wait_reason = record.wait_reason;
  thread.priority = record.old_priority;
  // Made ready by another processor within the tick in which it left.
  if (early && early->moment.time == time && is_waiting(record.old_state))
    make_ready(thread, *early);
}

void Turns::enter(Processor& on, const ContextSwitch& record) {
  auto& turn = on.turn.emplace();
  turn.thread = record.new_thread;
  turn.cpu = *record.moment.cpu;
  turn.begin = record.moment.time;
  turn.old_thread = record.old_thread;
  turn.in_priority = record.new_priority;
  turn.place = record.moment.place;
  auto& thread = follow(record.new_thread);
  describe_absence(turn, thread);
  thread = {};
  thread.where = Where::running;
  thread.cpu = turn.cpu;
  thread.since = turn.begin;
}

void Turns::describe_absence(Turn& turn, const Follow& thread) const {
  turn.before = absence_of(thread, turn.begin);
  if (thread.readied && *thread.readied <= turn.begin &&
      !is_uncertain(*thread.readied, turn.begin)) {
    turn.readied = thread.readied;
    turn.ready_event = thread.ready_event;
    turn.readied_on = thread.readied_on;
    turn.waker = thread.waker;
    turn.woken_in_dpc = thread.woken_in_dpc;
    turn.adjustment = thread.adjustment;
  }
  if (thread.where != Where::off && thread.where != Where::created) return;
  turn.left = thread.since;
  turn.left_state = thread.state;
  turn.left_priority = thread.priority;
  turn.wait_reason = thread.wait_reason;
}

// Whether a thread that was not seen to run may have.
bool Turns::is_uncertain(i64 from, i64 to) const {
  return losses_->anywhere(from, to) || losses_->misses_switches(from, to);
}

Before Turns::absence_of(const Follow& thread, i64 until) const {
  if (thread.where == Where::unknown) return Before::first;
  if (thread.where == Where::running) return Before::unknown;
  if (thread.since > until || is_uncertain(thread.since, until)) return Before::unknown;
  if (thread.readied && (*thread.readied < thread.since || *thread.readied > until))
    return Before::unknown;
  if (thread.where == Where::created) return Before::created;
  if (!thread.state) return thread.readied ? Before::waiting : Before::off;
  if (is_runnable(*thread.state)) return Before::ready;
  if (is_swapped(*thread.state)) return Before::swapped;
  if (is_waiting(*thread.state)) return thread.readied ? Before::waiting : Before::off;
  return Before::unknown;  // it had ended, or never begun
}

void Turns::on_ready(const Readied& record) {
  ++counts_.readied;
  // Older than a switch before it: what the thread did since then is not known.
  const auto cpu = record.moment.cpu;
  if (cpu && *cpu < processors_.size() && processors_[*cpu].turn &&
      record.moment.time < processors_[*cpu].turn->begin)
    return;
  auto& thread = follow(record.thread);
  const bool stays = thread.state && is_runnable(*thread.state);
  if (thread.where == Where::running || thread.readied || stays) {
    ++counts_.superfluous;
    if (thread.where == Where::running) thread.readied_early = record;
    return;
  }
  make_ready(thread, record);
}

void Turns::make_ready(Follow& thread, const Readied& record) {
  thread.readied = record.moment.time;
  thread.ready_event = record.moment.place;
  thread.readied_on = record.moment.cpu;
  thread.waker = record.waker;
  thread.woken_in_dpc = record.in_dpc;
  thread.adjustment = record.adjustment;
}

void Turns::on_thread(const ThreadRecord& record) {
  if (record.life != Life::begins) return;
  auto& thread = follow(record.thread);
  thread.where = Where::created;
  thread.since = record.moment.time;
}

void Turns::finish(const Observed&) {
  for (auto& on : processors_) {
    if (!on.turn) continue;
    on.last = std::max(on.last.value_or(on.turn->begin), on.turn->begin);
    sink_(*on.turn);
    on.turn.reset();
  }
}

std::optional<Turn> Turns::absence_at_end(Index thread, i64 end) const {
  if (thread >= threads_.size()) return std::nullopt;
  const auto where = standing(thread).where;
  if (where != Standing::Where::waiting && where != Standing::Where::ready &&
      where != Standing::Where::off && where != Standing::Where::swapped &&
      where != Standing::Where::created)
    return std::nullopt;
  Turn turn;
  turn.thread = thread;
  turn.begin = end;
  describe_absence(turn, threads_[thread]);
  // It waits on, where others were made ready.
  if (where == Standing::Where::waiting && counts_.readied > 0) turn.before = Before::waiting;
  return turn;
}

Standing Turns::standing(Index index) const {
  using S = Standing::Where;
  if (index >= threads_.size()) return {};
  const auto& thread = threads_[index];
  constexpr auto end = std::numeric_limits<i64>::max();
  switch (thread.where) {
    case Where::unknown:
      return {};
    case Where::running:
      return {losses_->on(thread.cpu, thread.since, end) ? S::unknown : S::running, thread.since,
              std::nullopt};
    case Where::created:
    case Where::off:
      break;
  }
  if (thread.state == ThreadState::terminated) return {S::ended, thread.since, std::nullopt};
  if (const auto ended = population_->threads()[index].life.end)
    return {S::ended, std::max(*ended, thread.since), std::nullopt};
  if (counts_.switches == 0) return {};  // it may have run
  if (is_uncertain(thread.since, end)) return {S::unknown, thread.since, std::nullopt};
  if (thread.readied) return {S::ready, thread.readied, std::nullopt};
  if (thread.where == Where::created) return {S::created, thread.since, std::nullopt};
  if (!thread.state) return {S::off, thread.since, std::nullopt};
  if (is_runnable(*thread.state)) return {S::ready, thread.since, std::nullopt};
  if (is_swapped(*thread.state)) return {S::swapped, thread.since, std::nullopt};
  // It never runs before it has begun: the trace contradicts itself.
  if (!is_waiting(*thread.state)) return {S::unknown, thread.since, std::nullopt};
  return {S::waiting, thread.since, thread.wait_reason};
}

}  // namespace coldtrace::trace_analysis
