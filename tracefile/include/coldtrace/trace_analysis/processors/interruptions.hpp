#pragma once

#include <map>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"

namespace coldtrace::trace_analysis {

// What the routines of interrupts cost. They nest and are logged when they end: those that began
// after one did were inside it. None is open across a context switch.
class Interruptions {
 public:
  struct Cost {
    i64 inclusive;  // ticks
    i64 exclusive;  // without those that were inside
  };

  void begin(const Observed& observed) { losses_ = &observed.losses; }
  void on_switch(const ContextSwitch& record) { done_[*record.moment.cpu].clear(); }

  // Nothing where events may be missing, or the end comes before the begin.
  std::optional<Cost> cost_of(const Interruption& record);

 private:
  struct Interval {
    i64 begin;
    i64 inclusive;
  };
  // Deepest nesting that is followed.
  static constexpr std::size_t deepest = 1024;

  const Losses* losses_ = nullptr;
  std::map<u16, std::vector<Interval>> done_;  // in none that is known yet, by processor
};

}  // namespace coldtrace::trace_analysis
