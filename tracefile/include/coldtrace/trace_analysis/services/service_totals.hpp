#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/records/histogram.hpp"
#include "coldtrace/trace_analysis/services/periods.hpp"

namespace coldtrace::trace_analysis {

// A call that returned, or a routine that is done.
struct TimedCall {
  u32 service;                               // its number
  i64 begin, end;                            // ticks
  i64 inside = 0;                            // ticks of the calls that it made
  bool is_inner = false;                     // inside another call of the same service
  std::optional<i64> ran = std::nullopt;     // ticks that its thread ran meanwhile
  std::optional<u64> cycles = std::nullopt;  // as measured by the tracer itself
};

// Of calls inside another call of the same service, which would count twice if that one returns.
struct WithheldTime {
  i64 inclusive = 0;                      // ticks
  std::optional<i64> ran = std::nullopt;  // as TimedCall has it
  i64 end = 0;                            // of the last one

  void add(const WithheldTime& other);
};

// What calls cost, in ticks.
struct CallSums {
  u64 calls = 0;      // that returned and were timed
  u64 unmatched = 0;  // returns without a call
  u64 untimed = 0;    // events may be missing between call and return
  i64 inclusive = 0;  // of calls that were not made inside another call of the same service
  i64 exclusive = 0;  // without the time in calls inside
  std::optional<i64> on_processor;  // of `inclusive`, while the thread ran; absent: not known
  std::optional<u64> cycles;        // as measured by the tracer itself
  u64 measured = 0;                 // calls that have it

  void add(const TimedCall& call);
  void add(const WithheldTime& withheld);
};

// What the calls of one service cost.
struct ServiceSums : CallSums {
  Service service;
  CodeNames::Code code;  // where a routine, or the handler of a call, lies
  u64 open = 0;          // calls that never returned
  // Of all calls, including those inside another one.
  Histogram times;
  Histogram cycles_of_calls;
};

// The numbers of the services that are wanted, those with the highest cost (`inclusive`) first;
// `wanted` has an entry for each service.
[[nodiscard]] std::vector<u32> costliest_first(const std::vector<ServiceSums>& services,
                                               const std::vector<bool>& wanted);

// The same for those that returned in one period.
struct PeriodSums : CallSums {
  u64 begun_before = 0;  // of `calls`: begun in an earlier period
  i64 total = 0;         // of all calls, including those inside another one
};

// Calls from one service to another.
struct CallEdge {
  u32 caller, callee;  // numbers of services
  u64 calls = 0;
  i64 inclusive = 0;
};

// What all calls of a trace cost, by service, by who called whom, and by period where there are
// any.
class ServiceTotals {
 public:
  explicit ServiceTotals(std::optional<Periods> periods) : periods_{std::move(periods)} {}

  static constexpr std::size_t most_rows = std::size_t{1} << 18U;
  using Rows = std::map<std::pair<u64, u32>, PeriodSums>;  // by period and service

  [[nodiscard]] const std::vector<ServiceSums>& services() const {
    return services_;
  }  // as they came
  [[nodiscard]] const std::vector<CallEdge>& edges() const { return edges_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  // Calls and returns of periods and services beyond the rows that are kept.
  [[nodiscard]] u64 left_out() const { return left_out_; }
  [[nodiscard]] Periods::Span span_of(u64 period) const {
    return periods_->span_of(period, first());
  }

  void begin(const Observed& observed) { observed_ = &observed; }
  // Code that was loaded where other code had been is another service.
  u32 number_of(const Service& service, CodeNames::Code code);
  void add(const TimedCall& call);
  // The outer call never returned.
  void add(u32 service, const WithheldTime& withheld);
  void add_unmatched(u32 service, i64 time) { count(&CallSums::unmatched, service, time); }
  void add_untimed(u32 service, i64 time) { count(&CallSums::untimed, service, time); }
  void add_open(u32 service) { ++services_[service].open; }
  void add_edge(u32 caller, u32 callee, i64 inclusive);

 private:
  using Key = std::tuple<Service, u32, u32>;  // with its module and function

  i64 first() const { return observed_->first.value_or(0); }
  PeriodSums* row_of(u32 service, i64 time);
  void count(u64 CallSums::*what, u32 service, i64 time);

  const Observed* observed_ = nullptr;
  std::optional<Periods> periods_;
  std::vector<ServiceSums> services_;
  std::map<Key, u32> numbers_;
  std::vector<CallEdge> edges_;
  std::map<std::pair<u32, u32>, u32> edge_numbers_;
  Rows rows_;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
