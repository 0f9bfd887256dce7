#include "coldtrace/trace_analysis/services/thread_clocks.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void ThreadClocks::add(ThreadClock& clock, const Stay& stay, i64 until) const {
  if (stay.in_order && stay.since <= until && !losses_->on(stay.cpu, stay.since, until))
    add_ticks(clock.ran, ticks_between(stay.since, until));
  else
    ++clock.stretch;
}

// A thread that is switched in on another processor within the tick of its switch-out has moved,
// and either of the two may come first. Without a switch-out nothing tells how long it ran.
void ThreadClocks::on_switch(const ContextSwitch& record) {
  const auto most = std::max(record.old_thread, record.new_thread);
  if (most >= threads_.size()) threads_.resize(std::size_t{most} + 1);
  auto& latest = grown(latest_, *record.moment.cpu);
  const Stay now{record.moment.time, *record.moment.cpu, record.moment.time >= latest};
  latest = now.since;
  auto& old = threads_[record.old_thread];
  if (old.left && old.left->cpu == now.cpu && old.stay && old.stay->since == now.since) {
    --old.stretch;
    add(old, *old.left, now.since);
    old.left.reset();
  } else {
    if (old.stay && record.continues && now.in_order)
      add(old, *old.stay, now.since);
    else
      ++old.stretch;
    old.stay.reset();
  }
  old.known = true;
  auto& next = threads_[record.new_thread];
  next.left = next.stay;
  if (next.left) ++next.stretch;
  next.stay = now;
  next.known = true;
}

std::optional<ThreadClocks::Reading> ThreadClocks::read(Index thread, i64 time) const {
  if (thread >= threads_.size() || !threads_[thread].known) return std::nullopt;
  const auto& clock = threads_[thread];
  auto ran = clock.ran;
  if (clock.stay) add_ticks(ran, ticks_between(clock.stay->since, time));
  return Reading{ran, clock.stretch};
}

std::optional<i64> ThreadClocks::between(const std::optional<Reading>& begin,
                                         const std::optional<Reading>& end) {
  if (!begin || !end || begin->stretch != end->stretch) return std::nullopt;
  return ticks_between(begin->ran, end->ran);
}

}  // namespace coldtrace::trace_analysis
