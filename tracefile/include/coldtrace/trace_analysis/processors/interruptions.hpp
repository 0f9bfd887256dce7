#pragma once

#include <map>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"

namespace coldtrace::trace_analysis {

// What interrupt routines cost. They nest and are logged when they end: those that began after
// another one did were inside it. None is open across a context switch.
class Interruptions {
 public:
  struct Cost {
    i64 inclusive;  // ticks
    i64 exclusive;  // without those that were inside
  };

  void begin(const Observed& observed) { losses_ = &observed.losses; }
  // What was logged before on that processor is over.
  void on_switch(const ContextSwitch& record);

  // Nothing if events may be missing, if the end comes before the begin, or if the begin comes
  // before the trace's first event or the processor's last switch.
  std::optional<Cost> cost_of(const Interruption& record);

  // How many began before a switch of their processor, which no interrupt does.
  [[nodiscard]] u64 contradictory() const { return contradictory_; }

 private:
  struct Interval {
    i64 begin;
    i64 inclusive;
  };
  // Deepest nesting that is followed.
  static constexpr std::size_t deepest = 1024;

  const Losses* losses_ = nullptr;
  struct Processor {
    std::vector<Interval> done;  // not inside any known one yet
    std::optional<i64> switched;
  };
  std::map<u16, Processor> processors_;
  u64 contradictory_ = 0;
};

}  // namespace coldtrace::trace_analysis
