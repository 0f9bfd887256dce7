#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/services/service_totals.hpp"

namespace coldtrace::cli {

// The cost of calls, in units of 100 ns as in every answer. Absent if not known.
class ServiceFigures {
 public:
  ServiceFigures(const tracefile::AnyTrace& trace, const trace_analysis::Observed& observed)
      : times_{trace.clock(), observed.first} {}

  const TraceTimes& times() const { return times_; }
  i64 duration(i64 ticks) const { return times_.duration(ticks); }
  std::optional<i64> duration(std::optional<i64> ticks) const {
    if (!ticks) return std::nullopt;
    return duration(*ticks);
  }

  // Per call, including those nested in another one of the same service.
  std::optional<i64> mean(const trace_analysis::ServiceSums& one) const {
    return of_calls(one, one.times.count() == 0 ? 0 : one.times.sum() / one.times.count());
  }
  std::optional<i64> least(const trace_analysis::ServiceSums& one) const {
    return of_calls(one, one.times.least());
  }
  std::optional<i64> greatest(const trace_analysis::ServiceSums& one) const {
    return of_calls(one, one.times.greatest());
  }
  std::optional<i64> percentile(const trace_analysis::ServiceSums& one, unsigned percent) const {
    return of_calls(one, one.times.percentile(percent).value_or(0));
  }
  std::optional<i64> mean(const trace_analysis::PeriodSums& row) const {
    if (row.calls == 0) return std::nullopt;
    return duration(row.total / static_cast<i64>(row.calls));
  }

  // For calls measured by the tracer.
  static std::optional<u64> mean_cycles(const trace_analysis::CallSums& sums) {
    if (!sums.cycles || sums.measured == 0) return std::nullopt;
    return *sums.cycles / sums.measured;
  }
  static std::optional<u64> least_cycles(const trace_analysis::ServiceSums& one) {
    if (one.measured == 0) return std::nullopt;
    return one.cycles_of_calls.least();
  }
  static std::optional<u64> greatest_cycles(const trace_analysis::ServiceSums& one) {
    if (one.measured == 0) return std::nullopt;
    return one.cycles_of_calls.greatest();
  }
  static std::optional<u64> cycle_percentile(const trace_analysis::ServiceSums& one,
                                             unsigned percent) {
    return one.cycles_of_calls.percentile(percent);
  }

 private:
  std::optional<i64> of_calls(const trace_analysis::ServiceSums& one, u64 ticks) const {
    if (one.times.count() == 0) return std::nullopt;
    return duration(static_cast<i64>(ticks));
  }

  TraceTimes times_;
};

}  // namespace coldtrace::cli
