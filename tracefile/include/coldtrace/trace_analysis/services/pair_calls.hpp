#pragma once

#include <map>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/services/service_totals.hpp"
#include "coldtrace/trace_analysis/services/thread_clocks.hpp"

namespace coldtrace::trace_analysis {

// Matches the events of pairs: an end belongs to the innermost open begin of its pair in its
// thread. Unlike calls, pairs of one thread may overlap: each ends independently, counts as called
// by the innermost other one open at that time, and has no time of its own from where another one
// begins. If a field joins them, regardless of the thread, a begin with the same value as an open
// one means that the latter never ends.
class PairCalls {
 public:
  // Both must outlive the object.
  PairCalls(ServiceTotals& totals, core::Borrowed<ThreadClocks> clocks)
      : totals_{totals}, clocks_{clocks.get()} {}

  void begin(const Observed& observed) { losses_ = &observed.losses; }
  // A call that has a thread or a key.
  void on_call(const CallRecord& record, u32 service);
  void end_thread(Index thread);
  void finish();

 private:
  struct Open {
    u32 service;
    i64 begin;
    i64 inside = 0;  // ticks since it began, inside others that began later
    i64 covered;     // `inside` is known until then
    std::optional<ThreadClocks::Reading> clock;
    WithheldTime withheld = {};  // of those of the same pair inside, until it is reported itself
  };
  using Opened = std::vector<Open>;
  // The most that are open in one thread, and of all that a field joins; the oldest never end.
  static constexpr std::size_t most_of_thread = 1024;
  static constexpr std::size_t most_of_keys = std::size_t{1} << 18U;

  void on_key(const CallRecord& record, u32 service);
  void leave(Opened& open, const CallRecord& record, u32 service);
  bool is_timed(const Open& call, i64 end);
  void give_back(Opened& open, Opened::iterator end, const Open& call);
  void abandon(Opened& open);

  ServiceTotals& totals_;
  const ThreadClocks& clocks_;
  const Losses* losses_ = nullptr;
  std::map<Index, Opened> threads_;
  std::map<std::pair<u32, u64>, i64> keys_;  // when each began, by service and value
};

}  // namespace coldtrace::trace_analysis
