#include "coldtrace/trace_analysis/waits/departures.hpp"

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void Departures::on_switch(const ContextSwitch& record) {
  grown(last_, record.old_thread) = record.moment;
}

std::optional<Moment> Departures::of(Index thread) const {
  return thread < last_.size() ? last_[thread] : std::nullopt;
}

Moment Departures::before(const Turn& turn) const {
  const auto left = of(turn.thread);
  return left && left->time == turn.left ? *left : Moment{*turn.left, std::nullopt, {}};
}

}  // namespace coldtrace::trace_analysis
