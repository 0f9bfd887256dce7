#pragma once

#include <map>

#include "coldtrace/trace_analysis/analysis.hpp"
#include "coldtrace/trace_analysis/histogram.hpp"
#include "coldtrace/trace_analysis/interruptions.hpp"

namespace coldtrace::trace_analysis {

// What the calls of one service cost, in ticks.
struct ServiceSums {
  Service service;
  u64 calls = 0;      // that returned and were timed
  u64 open = 0;       // that never returned
  u64 unmatched = 0;  // returns without a call
  u64 untimed = 0;    // events may be missing between call and return
  i64 inclusive = 0;  // of calls that were not made inside another one of the same service
  i64 exclusive = 0;  // without the time in calls inside
  std::optional<i64> on_processor;  // of `inclusive`, while the thread ran; absent: not known
  std::optional<u64> cycles;        // as the tracer itself has measured
  Histogram times;                  // of all calls, those inside another one too
};

// Calls of one service from another one.
struct CallEdge {
  u32 caller, callee;  // numbers of services
  u64 calls = 0;
  i64 inclusive = 0;
};

// What was called, by whom and at what cost: system calls, services of virtual device drivers, and
// the routines of interrupts. A return belongs to the innermost open call of its thread that it can
// be from; whatever was called inside of that has not returned.
class Services final : public Analysis {
 public:
  const std::vector<ServiceSums>& services() const { return services_; }  // as they came
  const std::vector<CallEdge>& edges() const { return edges_; }
  // That the trace gives it; empty when it gives none.
  std::string_view name_of(const Service& service) const;
  u64 without_thread() const { return without_thread_; }      // calls and returns
  u64 nameless_returns() const { return nameless_returns_; }  // without a call

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_call(const CallRecord& record) override;
  void on_service_name(const ServiceName& record) override;
  void on_interruption(const Interruption& record) override;
  void on_thread(const ThreadRecord& record) override;
  void finish(const Observed& observed) override;

 private:
  struct Open {
    u32 service;
    i64 begin;
    i64 inside = 0;          // time in calls that it made
    std::optional<i64> ran;  // of its thread, when it began
  };
  // What is open in one thread, or on one processor where calls have no thread.
  struct Stack {
    std::vector<Open> calls;
    i64 ran = 0;                    // of the thread, as far as it is known
    std::optional<i64> runs_since;  // it is on a processor
    bool ran_known = false;
  };

  // Deepest nesting that is followed; calls beyond are counted as never returned.
  static constexpr std::size_t deepest = 1024;

  u32 number_of(const Service& service);
  Stack* stack_of(const CallRecord& record);
  std::optional<i64> ran(const Stack& stack, i64 time) const;
  void enter(Stack& stack, const CallRecord& record);
  void leave(Stack& stack, const CallRecord& record);
  void close(Stack& stack, const CallRecord& record);
  void add_edge(u32 caller, u32 callee, i64 inclusive);
  void abandon(Stack& stack, std::size_t from);

  const Losses* losses_ = nullptr;
  std::vector<ServiceSums> services_;
  std::map<Service, u32> numbers_;
  std::map<Service, std::string> names_;
  std::vector<CallEdge> edges_;
  std::map<std::pair<u32, u32>, u32> edge_numbers_;
  std::vector<Stack> threads_;       // by index
  std::map<u16, Stack> processors_;  // of calls without thread
  Interruptions interruptions_;
  u64 without_thread_ = 0;
  u64 nameless_returns_ = 0;
};

}  // namespace coldtrace::trace_analysis
