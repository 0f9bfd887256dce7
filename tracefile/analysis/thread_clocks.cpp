#include "coldtrace/trace_analysis/thread_clocks.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/ticks.hpp"

namespace coldtrace::trace_analysis {

void ThreadClocks::stop(ThreadClock& clock, i64 time, bool is_sound) const {
  if (clock.runs_since && is_sound && *clock.runs_since <= time &&
      !losses_->on(clock.cpu, *clock.runs_since, time))
    add_ticks(clock.ran, ticks_between(*clock.runs_since, time));
  else
    ++clock.stretch;
  clock.runs_since.reset();
  clock.known = true;
}

// A thread that is switched in on another processor within the tick of its switch-out has moved:
// either of the two may come first.
void ThreadClocks::on_switch(const ContextSwitch& record) {
  const auto most = std::max(record.old_thread, record.new_thread);
  if (most >= threads_.size()) threads_.resize(std::size_t{most} + 1);
  const auto time = record.moment.time;
  const auto cpu = *record.moment.cpu;
  auto& old = threads_[record.old_thread];
  const bool has_moved = old.runs_since && old.cpu != cpu && *old.runs_since == time;
  if (!has_moved) stop(old, time, record.continues);
  auto& next = threads_[record.new_thread];
  if (next.runs_since) stop(next, time, true);
  next.runs_since = time;
  next.cpu = cpu;
  next.known = true;
}

std::optional<ThreadClocks::Reading> ThreadClocks::read(Index thread, i64 time) const {
  if (thread >= threads_.size() || !threads_[thread].known) return std::nullopt;
  const auto& clock = threads_[thread];
  auto ran = clock.ran;
  if (clock.runs_since) add_ticks(ran, ticks_between(*clock.runs_since, time));
  return Reading{ran, clock.stretch};
}

std::optional<i64> ThreadClocks::between(const std::optional<Reading>& begin,
                                         const std::optional<Reading>& end) {
  if (!begin || !end || begin->stretch != end->stretch) return std::nullopt;
  return ticks_between(begin->ran, end->ran);
}

}  // namespace coldtrace::trace_analysis
