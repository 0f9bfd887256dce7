#pragma once

#include <map>

#include "coldtrace/trace_analysis/records/histogram.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// Waits of a thread for one reason.
struct WaitSum {
  u8 reason;  // a KWAIT_REASON
  u64 count = 0;
  i64 time = 0;
  i64 longest = 0;
};

// Where the time of a thread went, in ticks. What the trace does not show is in none of them.
struct ThreadSchedule {
  u64 turns = 0;
  i64 running = 0;
  i64 ready = 0;
  i64 waiting = 0;
  i64 off = 0;  // waiting or ready, which cannot be told apart
  i64 swapped = 0;
  i64 created = 0;             // until it was made ready for the first time
  i64 unknown = 0;             // between its first and its last switch, where events are missing
  std::vector<WaitSum> waits;  // by reason
  Histogram ready_latency;     // ticks from ready to switch-in
  u32 priorities = 0;          // a bit for each priority that it was switched in or out with
  std::optional<i64> first, last;  // switches from or to it, or its start
};

// How one processor spent its time; ticks.
struct ProcessorSchedule {
  u64 turns = 0;
  i64 busy = 0;
  i64 idle = 0;
  i64 unknown = 0;  // before its first switch, after its last, and where events are missing
  std::optional<i64> first_switch, last_switch;
  u64 breaks = 0;  // switches from a thread that the processor was not running
};

// Sums of a trace's turns. For each processor, busy + idle + unknown is the time that was observed.
class Schedule final : public Analysis {
 public:
  // `each_turn` may be empty.
  explicit Schedule(Turns::Sink each_turn = {});
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  [[nodiscard]] const Turns& turns() const { return turns_; }
  [[nodiscard]] const std::vector<ThreadSchedule>& threads() const { return threads_; }  // by index
  // By number: those with switches.
  [[nodiscard]] const std::map<u16, ProcessorSchedule>& processors() const { return processors_; }
  [[nodiscard]] i64 elapsed() const { return elapsed_; }

  void begin(const Observed& observed) override {
    turns_.begin(observed);
    population_ = &observed.population;
  }
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_thread(const ThreadRecord& record) override;
  void finish(const Observed& observed) override;

 private:
  ThreadSchedule& thread(Index index);
  void add(const Turn& turn);
  void add_absence(ThreadSchedule& thread, const Turn& turn) const;
  void seen(Index thread, i64 time);

  Turns turns_;
  Turns::Sink each_turn_;
  const Population* population_ = nullptr;
  std::vector<ThreadSchedule> threads_;
  std::map<u16, ProcessorSchedule> processors_;
  i64 elapsed_ = 0;
};

}  // namespace coldtrace::trace_analysis
