#pragma once

#include <algorithm>
#include <vector>

#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// A time that a thread spent off the processor, and what ended it.
struct LongWait {
  Index thread = nobody;
  i64 from = 0, to = 0;  // from its switch-out until it is made ready, or else to its switch-in
  bool told = false;     // an event says when it was made ready; else it may have been ready before
  std::optional<u8> reason;  // a KWAIT_REASON
  Index waker = nobody;      // who made it ready; nobody: an interrupt, or not known
  bool in_dpc = false;       // an interrupt did: a device or a timer
  Place event;               // that ends it
};

// The longest waits of a trace, each by itself, from the turns of its threads. A wait does not
// count if the trace does not show both of its ends, or misses events of it. Idle threads do not
// wait. Keeps as many as asked for, regardless of the length of the trace.
class LongestWaits final : public Analysis {
 public:
  static constexpr std::size_t most_kept = 1000;

  explicit LongestWaits(u64 wanted)
      : turns_{[this](const Turn& turn) { add(turn); }},
        wanted_{static_cast<std::size_t>(std::min<u64>(wanted, most_kept))} {}
  LongestWaits(const LongestWaits&) = delete;
  LongestWaits& operator=(const LongestWaits&) = delete;

  void begin(const Observed& observed) override {
    turns_.begin(observed);
    population_ = &observed.population;
  }
  void on_switch(const ContextSwitch& record) override { turns_.on_switch(record); }
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void finish(const Observed& observed) override { turns_.finish(observed); }

  [[nodiscard]] u64 count() const { return count_; }  // of all, including those that are not kept
  // Longest first; of equal ones, the earlier one.
  [[nodiscard]] std::vector<LongWait> longest() const;

 private:
  void add(const Turn& turn);

  Turns turns_;
  const Population* population_ = nullptr;
  std::size_t wanted_;
  u64 count_ = 0;
  std::vector<LongWait> heap_;  // the shortest one in front
};

}  // namespace coldtrace::trace_analysis
