#include "coldtrace/trace_analysis/processors/interruptions.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void Interruptions::on_switch(const ContextSwitch& record) {
  auto& on = processors_[*record.moment.cpu];
  on.done.clear();
  on.switched = record.moment.time;
}

std::optional<Interruptions::Cost> Interruptions::cost_of(const Interruption& record) {
  const auto end = record.moment.time;
  auto& [done, switched] = processors_[*record.moment.cpu];
  if (switched && record.begin < *switched) {
    ++contradictory_;
    return std::nullopt;
  }
  if (end < record.begin || record.begin < losses_->first().value_or(record.begin) ||
      losses_->on(*record.moment.cpu, record.begin, end))
    return std::nullopt;
  const auto inclusive = ticks_between(record.begin, end);
  i64 inside = 0;
  while (!done.empty() && done.back().begin >= record.begin) {
    add_ticks(inside, done.back().inclusive);
    done.pop_back();
  }
  if (done.size() == deepest) done.erase(done.begin());
  done.push_back({record.begin, inclusive});
  return Cost{inclusive, std::max<i64>(0, inclusive - inside)};
}

}  // namespace coldtrace::trace_analysis
