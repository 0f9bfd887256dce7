#include "coldtrace/trace_analysis/processors/interruptions.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

std::optional<Interruptions::Cost> Interruptions::cost_of(const Interruption& record) {
  const auto end = record.moment.time;
  if (end < record.begin || losses_->on(*record.moment.cpu, record.begin, end)) return std::nullopt;
  const auto inclusive = ticks_between(record.begin, end);
  i64 inside = 0;
  auto& done = done_[*record.moment.cpu];
  while (!done.empty() && done.back().begin >= record.begin) {
    add_ticks(inside, done.back().inclusive);
    done.pop_back();
  }
  if (done.size() == deepest) done.erase(done.begin());
  done.push_back({record.begin, inclusive});
  return Cost{inclusive, std::max<i64>(0, inclusive - inside)};
}

}  // namespace coldtrace::trace_analysis
