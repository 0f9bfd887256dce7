#include "coldtrace/trace_analysis/scheduling/priorities.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

void add_level(ThreadPriorities& thread, i8 priority, i64 time) {
  auto at =
      std::ranges::lower_bound(thread.levels, priority, {}, &ThreadPriorities::Level::priority);
  if (at == thread.levels.end() || at->priority != priority)
    at = thread.levels.insert(at, {priority});
  add_ticks(at->time, time);
}

ThreadPriorities::CauseSum& sum_of(ThreadPriorities& thread, PriorityCause cause) {
  return thread.causes[static_cast<std::size_t>(cause)];
}

// Nothing when the event raises nothing.
std::optional<PriorityCause> cause_of(const Adjustment& adjustment) {
  if (adjustment.increment <= 0) return std::nullopt;
  if (adjustment.reason == Adjustment::Reason::unwait) return PriorityCause::unwait;
  if (adjustment.reason == Adjustment::Reason::boost) return PriorityCause::boost;
  return std::nullopt;
}

bool is_boost(PriorityCause cause) {
  return cause == PriorityCause::unwait || cause == PriorityCause::boost ||
         cause == PriorityCause::auto_boost || cause == PriorityCause::starvation;
}

}  // namespace

std::string_view to_string(PriorityCause cause) {
  using C = PriorityCause;
  switch (cause) {
    case C::unwait:
      return "unwait";
    case C::boost:
      return "boost";
    case C::auto_boost:
      return "auto_boost";
    case C::starvation:
      return "starvation";
    case C::decay:
      return "decay";
    case C::set:
      return "set";
    case C::base_set:
      return "base_set";
    case C::not_told:
    case C::count:
      break;
  }
  return "not_told";
}

std::string_view to_string(PriorityStep::Shown shown) {
  switch (shown) {
    case PriorityStep::Shown::switch_in:
      return "switch_in";
    case PriorityStep::Shown::switch_out:
      return "switch_out";
    case PriorityStep::Shown::set:
      return "set";
  }
  return "set";
}

Priorities::Priorities(Sink each_step)
    : turns_{[this](const Turn& turn) { ended(turn); }}, each_step_{std::move(each_step)} {}

void Priorities::begin(const Observed& observed) {
  observed_ = &observed;
  turns_.begin(observed);
}

Priorities::Follow& Priorities::follow(Index thread) {
  grown(threads_, thread);
  return grown(follows_, thread);
}

bool Priorities::is_possible(std::optional<i8> priority) {
  if (!priority) return false;
  if (*priority >= 0 && *priority <= most_priority) return true;
  ++impossible_;
  return false;
}

void Priorities::on_switch(const ContextSwitch& record) {
  turns_.on_switch(record);
  const bool repeated = record.old_thread == record.new_thread && record.continues;
  const auto& threads = observed_->population.threads();
  if (!record.continues && !threads[record.old_thread].idle_of)
    lose(record.old_thread, record.moment);
  if (!repeated && !threads[record.new_thread].idle_of)
    follow(record.new_thread).pending.push_back({Pending::What::turn, {record.moment}});
}

// What its priority was before then nobody knows, unless it is shown again at that very time.
void Priorities::lose(Index thread, const Moment& since) {
  auto& pending = follow(thread).pending;
  if (pending.empty() || pending.back().what != Pending::What::not_followed)
    pending.push_back({Pending::What::not_followed, {}});
  pending.back().change.moment = since;
}

void Priorities::on_ready(const Readied& record) {
  turns_.on_ready(record);
  if (!record.adjustment) return;
  follow(record.thread);
  if (const auto cause = cause_of(*record.adjustment)) {
    auto& sum = sum_of(threads_[record.thread], *cause);
    ++sum.events;
    add_ticks(sum.increments, record.adjustment->increment);
  }
}

void Priorities::on_priority_change(const PriorityChange& record) {
  auto& thread = follow(record.thread);
  if (thread.changes == most_pending) {
    ++changes_left_out_;
    lose(record.thread, record.moment);
    return;
  }
  thread.pending.push_back({Pending::What::change, record});
  ++thread.changes;
}

void Priorities::on_thread(const ThreadRecord& record) {
  turns_.on_thread(record);
  if (record.base_priority && is_possible(record.base_priority))
    see_base(record.thread, *record.base_priority);
}

void Priorities::see_base(Index index, i8 base) {
  follow(index);
  auto& thread = threads_[index];
  thread.base = base;
  thread.bases |= 1U << unsigned(base);
}

// What is pending before a turn begins, `next`, or before the end. Whether a turn does.
bool Priorities::apply_pending(Index thread, const Turn* next) {
  auto& follow = this->follow(thread);
  auto one = follow.pending.begin();
  for (; one != follow.pending.end() && one->what != Pending::What::turn; ++one) {
    if (one->what == Pending::What::not_followed) {
      follow.broken = follow.broken || one->change.moment.time > follow.shown;
    } else {
      --follow.changes;
      apply(one->change, next);
    }
  }
  follow.pending.erase(follow.pending.begin(), one);
  return !follow.pending.empty();
}

void Priorities::ended(const Turn& turn) {
  if (observed_->population.threads()[turn.thread].idle_of) return;
  using Shown = PriorityStep::Shown;
  if (apply_pending(turn.thread, &turn)) {
    auto& pending = follows_[turn.thread].pending;
    pending.erase(pending.begin());
  }
  // A thread that left a processor since its priority was seen was on one meanwhile.
  const auto& thread = follows_[turn.thread];
  const bool known =
      turn.before != Before::unknown && turn.left.value_or(thread.shown) <= thread.shown;
  const Moment begin{turn.begin, turn.cpu, turn.place};
  if (is_possible(turn.in_priority))
    see(turn.thread, {begin, Shown::switch_in, *turn.in_priority, known, &turn});
  apply_pending(turn.thread, nullptr);
  if (!turn.end)
    follow(turn.thread).broken = true;
  else if (is_possible(turn.out_priority))
    see(turn.thread, {{*turn.end, turn.cpu, turn.ended_at},
                      Shown::switch_out,
                      *turn.out_priority,
                      true,
                      nullptr});
}

void Priorities::apply(const PriorityChange& change, const Turn* next) {
  using Kind = PriorityChange::Kind;
  const auto set = [&](PriorityCause cause) {
    see(change.thread, {change.moment, PriorityStep::Shown::set, *change.before, true, next});
    auto& thread = follows_[change.thread];
    ++sum_of(threads_[change.thread], cause).events;
    if (change.now == change.before) return;
    add_step({change.thread, change.by, *change.before, *change.now, PriorityStep::Shown::set,
              cause, std::nullopt, threads_[change.thread].base, change.moment.time, change.moment,
              change.moment});
    if (is_boost(cause))
      thread.unboosted = thread.unboosted.value_or(*change.before);
    else
      thread.unboosted.reset();
    thread.priority = change.now;
    threads_[change.thread].last_priority = change.now;
  };
  switch (change.kind) {
    case Kind::priority:
      if (is_possible(change.before) && is_possible(change.now)) set(PriorityCause::set);
      break;
    case Kind::floor:
      if (!is_possible(change.before) || !is_possible(change.now)) break;
      if (*change.now > *change.before) set(PriorityCause::auto_boost);
      break;
    case Kind::base:
      if (!is_possible(change.now)) break;
      see_base(change.thread, *change.now);
      follows_[change.thread].based_by = change.by;
      ++sum_of(threads_[change.thread], PriorityCause::base_set).events;
      break;
    case Kind::starved:
      follow(change.thread).starved = true;
      ++sum_of(threads_[change.thread], PriorityCause::starvation).events;
      break;
  }
}

Priorities::Reason Priorities::explain(const Follow& follow, std::optional<i8> base,
                                       const Sight& sight) {
  if (sight.priority > *follow.priority) {
    const auto* const turn = sight.turn;
    if (turn != nullptr && turn->readied && *turn->readied >= follow.shown &&
        *turn->readied <= sight.moment.time) {
      const auto& adjustment = turn->adjustment;
      const auto cause = adjustment ? cause_of(*adjustment) : std::nullopt;
      const Moment told{*turn->readied, turn->readied_on, turn->ready_event};
      // More than the boost gives it has from elsewhere. To threads of the foreground the end of a
      // wait gives up to 2 more. Source: Windows Internals, "Boosts for foreground threads after
      // waits" (PsPrioritySeparation).
      constexpr int separation = 2;
      const int from = std::max(*follow.priority, base.value_or(*follow.priority));
      if (cause && sight.priority <= from + adjustment->increment + separation)
        return {*cause, told, adjustment->increment, turn->waker};
      // The end of a wait is where Windows raises priorities.
      if (!adjustment && turn->before == Before::waiting)
        return {PriorityCause::unwait, told, std::nullopt, turn->waker};
    }
    if (follow.based_by) return {PriorityCause::base_set, {}, {}, *follow.based_by};
    if (follow.starved) return {PriorityCause::starvation, {}, {}, nobody};
    return {};
  }
  if (follow.based_by) return {PriorityCause::base_set, {}, {}, *follow.based_by};
  const bool falls_back = follow.unboosted && sight.priority >= *follow.unboosted;
  if (falls_back || (base && sight.priority >= *base))
    return {PriorityCause::decay, {}, {}, nobody};
  return {};
}

void Priorities::see(Index index, const Sight& sight) {
  auto& thread = follow(index);
  auto& sums = threads_[index];
  const auto time = sight.moment.time;
  if (!thread.priority) {
    sums.first = time;
    sums.first_priority = sight.priority;
  } else {
    const bool known = sight.known && !thread.broken &&
                       !observed_->losses.anywhere(thread.shown, time) &&
                       !observed_->losses.misses_switches(thread.shown, time);
    const auto length = ticks_between(thread.shown, time);
    const auto reason =
        known && sight.priority != *thread.priority ? explain(thread, sums.base, sight) : Reason{};
    if (!known) {
      add_ticks(sums.unknown, length);
    } else if (sight.priority == *thread.priority) {
      add_level(sums, sight.priority, length);
    } else if (reason.told) {
      add_level(sums, *thread.priority, ticks_between(thread.shown, reason.told->time));
      add_level(sums, sight.priority, ticks_between(reason.told->time, time));
    } else {
      add_ticks(sums.changing, length);
    }
    if (sight.priority != *thread.priority) {
      add_step({index, reason.by, *thread.priority, sight.priority, sight.by, reason.cause,
                reason.increment, sums.base, thread.shown, sight.moment, reason.told});
      if (!known || !is_boost(reason.cause)) {
        // Down to where it came from, or to where nobody knows what it came from.
        const bool above = known && thread.unboosted && sight.priority > *thread.unboosted;
        if (!above) thread.unboosted.reset();
      } else if (!thread.unboosted) {
        thread.unboosted = thread.priority;
      }
    }
  }
  // What goes back does not have the time pass again.
  thread.shown = thread.priority ? std::max(thread.shown, time) : time;
  thread.priority = sight.priority;
  thread.broken = false;
  thread.based_by.reset();
  thread.starved = false;
  sums.last = thread.shown;
  sums.last_priority = sight.priority;
}

void Priorities::add_step(const PriorityStep& step) {
  static_assert(sizeof(PriorityStep) <= 96, "there are most_steps of them");
  auto& thread = threads_[step.thread];
  ++thread.steps;
  auto& sum = sum_of(thread, step.cause);
  ++sum.steps;
  sum.levels += static_cast<u64>(std::abs(step.now - step.before));
  if (each_step_) each_step_(step);
  if (steps_.size() < most_steps)
    steps_.push_back(step);
  else
    ++more_steps_;
}

void Priorities::finish(const Observed& observed) {
  turns_.finish(observed);
  for (Index i = 0; i < follows_.size(); ++i) {
    if (follows_[i].pending.empty()) continue;
    const auto absence = turns_.absence_at_end(i, observed.last.value_or(0));
    apply_pending(i, absence ? &*absence : nullptr);
  }
  std::ranges::stable_sort(steps_, {}, [](const PriorityStep& step) { return step.time(); });
}

}  // namespace coldtrace::trace_analysis
