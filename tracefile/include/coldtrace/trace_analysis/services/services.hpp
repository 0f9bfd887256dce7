#pragma once

#include <functional>
#include <map>

#include "coldtrace/trace_analysis/processors/interruptions.hpp"
#include "coldtrace/trace_analysis/services/pair_calls.hpp"
#include "coldtrace/trace_analysis/services/service_totals.hpp"
#include "coldtrace/trace_analysis/services/thread_clocks.hpp"

namespace coldtrace::trace_analysis {

// What was called, by whom and at what cost: system calls, services of virtual device drivers,
// interrupt routines, and pairs of events. A return belongs to the innermost open call of its
// thread that it can be from; whatever was called inside that has not returned. Pairs are matched
// separately, as PairCalls says.
class Services final : public Analysis {
 public:
  // A timed call: what `totals` adds up.
  struct Seen {
    u32 service;  // its number
    i64 begin;
    Moment end;
    Index thread;       // nobody: a routine of an interrupt, or the format does not say
    bool is_outermost;  // no call of its thread is open any more
  };
  using Sink = std::function<void(const Seen&)>;

  // `code` must outlive the analysis. `each` gets calls and routines as they end.
  explicit Services(CodeNames& code, std::optional<Periods> periods = std::nullopt, Sink each = {})
      : code_{code},
        each_{std::move(each)},
        totals_{std::move(periods)},
        pairs_{totals_, clocks_} {}
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  [[nodiscard]] const ServiceTotals& totals() const { return totals_; }
  [[nodiscard]] const std::vector<ServiceSums>& services() const { return totals_.services(); }
  [[nodiscard]] const std::vector<CallEdge>& edges() const { return totals_.edges(); }
  // The name that the trace gives it; empty if it gives none.
  [[nodiscard]] std::string_view name_of(const Service& service) const;
  [[nodiscard]] u64 contradictory_interrupts() const { return interruptions_.contradictory(); }
  [[nodiscard]] u64 without_thread() const { return without_thread_; }  // calls and returns
  [[nodiscard]] u64 unmatched_returns() const { return unmatched_returns_; }

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
    i64 inside;  // time in calls that it made
    std::optional<ThreadClocks::Reading> clock;
    WithheldTime withheld;  // of calls of the same service inside, until it is reported itself
  };
  // What is open in one thread, or on one processor if calls have no thread.
  using Stack = std::vector<Open>;

  // Deepest nesting that is followed; beyond it the outermost calls are counted as never returned.
  static constexpr std::size_t deepest = 1024;

  u32 number_of(const Service& service, i64 time);
  Stack* stack_of(const CallRecord& record);
  void enter(Stack& stack, const CallRecord& record);
  void leave(Stack& stack, const CallRecord& record);
  void close(Stack& stack, const CallRecord& record);
  void abandon(Stack& stack, std::size_t from);
  void give_back(Stack& stack, const Open& call);
  bool is_uncertain(i64 from, i64 to) const;

  const Losses* losses_ = nullptr;
  CodeNames& code_;
  Sink each_;
  ServiceTotals totals_;
  ThreadClocks clocks_;
  PairCalls pairs_;
  Interruptions interruptions_;
  std::map<Service, std::string> names_;
  std::vector<Stack> threads_;       // by index
  std::map<u16, Stack> processors_;  // of calls without thread
  u64 without_thread_ = 0;
  u64 unmatched_returns_ = 0;
};

}  // namespace coldtrace::trace_analysis
