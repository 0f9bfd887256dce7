#pragma once

#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"

namespace coldtrace::trace_analysis {

// How long each thread has run, by the context switches: a clock for each thread, which stands
// still while the thread does.
class ThreadClocks {
 public:
  struct Reading {
    i64 ran;      // ticks
    u64 stretch;  // counts how often events may have been missing
  };

  void begin(const Observed& observed) { losses_ = &observed.losses; }
  // One clock stops, another one resumes.
  void on_switch(const ContextSwitch& record);

  // Nothing before the first switch of the thread.
  [[nodiscard]] std::optional<Reading> read(Index thread, i64 time) const;

  // Ticks that the thread ran between two readings; nothing where that is not known.
  [[nodiscard]] static std::optional<i64> between(const std::optional<Reading>& begin,
                                                  const std::optional<Reading>& end);

 private:
  struct Stay {
    i64 since;
    u16 cpu;
    bool in_order;  // false: since a switch that is older than an earlier one on the processor
  };
  struct ThreadClock {
    i64 ran = 0;
    u64 stretch = 0;
    std::optional<Stay> stay;  // on a processor
    std::optional<Stay> left;  // that no switch had ended when another one began
    bool known = false;
  };

  void add(ThreadClock& clock, const Stay& stay, i64 until) const;

  const Losses* losses_ = nullptr;
  std::vector<ThreadClock> threads_;        // by index
  std::vector<std::optional<i64>> latest_;  // switches, by processor
};

}  // namespace coldtrace::trace_analysis
