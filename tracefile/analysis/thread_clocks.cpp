#include "coldtrace/trace_analysis/thread_clocks.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/ticks.hpp"

namespace coldtrace::trace_analysis {

void ThreadClocks::on_switch(const ContextSwitch& record) {
  const auto most = std::max(record.old_thread, record.new_thread);
  if (most >= threads_.size()) threads_.resize(std::size_t{most} + 1);
  const auto time = record.moment.time;
  auto& old = threads_[record.old_thread];
  if (old.runs_since && record.continues && *old.runs_since <= time &&
      !losses_->on(*record.moment.cpu, *old.runs_since, time))
    add_ticks(old.ran, ticks_between(*old.runs_since, time));
  else
    ++old.stretch;
  old.runs_since.reset();
  old.known = true;
  auto& next = threads_[record.new_thread];
  next.runs_since = time;
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
