#pragma once

#include <functional>

#include "coldtrace/trace_analysis/records/analysis.hpp"

namespace coldtrace::trace_analysis {

// What a thread did between two turns on a processor.
enum class Before : u8 {
  first,    // nothing is known: the first turn that the trace shows
  created,  // it had just begun
  waiting,  // it waited, and was ready since `readied`
  ready,    // it was pushed off the processor and stayed ready
  off,      // it waited or was ready: no event says when it became ready
  swapped,  // its stack or its process was swapped out
  unknown,  // events are missing
};

// One stay of a thread on a processor, from the switch to it to the switch away from it.
struct Turn {
  Index thread = nobody;
  u16 cpu = 0;
  std::optional<i8> in_priority, out_priority;
  Index old_thread = nobody;  // that the processor was taken from
  Index new_thread = nobody;  // that it was given to; nobody without an end
  i64 begin = 0;
  // Absent: the trace ends first, events are missing, or switches are out of time order.
  std::optional<i64> end;
  Place place;     // of the switch to it
  Place ended_at;  // of the switch away from it

  // Before the turn.
  std::optional<i64> left;  // the end of its last turn; for a new thread, its start
  std::optional<i64> readied;
  Place ready_event;              // the event that says so
  std::optional<u16> readied_on;  // the processor of that event
  Index waker = nobody;
  bool woken_in_dpc = false;
  Before before = Before::first;
  std::optional<ThreadState> left_state;
  std::optional<u8> wait_reason;
  std::optional<i8> left_priority;
  std::optional<Adjustment> adjustment;  // stated by the event of `readied`
};

// Where the time between two turns of a thread went, in ticks, as far as the trace shows.
struct Absence {
  std::optional<i64> waiting;
  std::optional<i64> ready;
  std::optional<i64> off;  // waiting or ready, which cannot be told apart
  std::optional<i64> swapped;
  std::optional<i64> created;  // until it was made ready for the first time
};
[[nodiscard]] Absence absence_before(const Turn& turn);

// Where a thread is when the trace ends.
struct Standing {
  enum class Where : u8 {
    not_told,
    created,
    running,
    waiting,
    ready,
    off,
    swapped,
    ended,
    unknown
  };
  Where where = Where::not_told;
  std::optional<i64> since;
  std::optional<u8> wait_reason;
};

// Follows the scheduler by its context switches: the chain of each processor is taken as true, and
// breaks in it as losses. Hands out each turn once its end is known. Nothing is invented before the
// first and after the last switch of a processor, or across missing events. A switch that is older
// than an earlier one determines neither the length of the turn that it ends nor that of the one
// that it begins: turns of a processor that have an end never overlap. Source: Microsoft, "CPU
// Analysis" (Windows Performance Toolkit): a wait goes from switch-out to ready, ready from there
// to switch-in, a run from there to the next switch-out.
class Turns final : public Analysis {
 public:
  using Sink = std::function<void(const Turn&)>;
  explicit Turns(Sink sink) : sink_{std::move(sink)} {}

  struct Counts {
    u64 switches = 0;
    u64 repeated = 0;  // of a thread to itself, which end no turn
    u64 readied = 0;
    u64 superfluous = 0;  // of a thread that is running or ready
    u64 broken = 0;       // switches from a thread that the processor was not running
    u64 overlapping = 0;  // turns of a thread that was on another processor
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::optional<i64> first_switch(u16 cpu) const { return processors_[cpu].first; }
  [[nodiscard]] std::optional<i64> last_switch(u16 cpu) const { return processors_[cpu].last; }
  [[nodiscard]] u64 breaks(u16 cpu) const { return processors_[cpu].breaks; }
  [[nodiscard]] std::size_t processors() const { return processors_.size(); }
  // What the thread is doing at the current event.
  [[nodiscard]] Standing standing(Index thread) const;
  // What a thread that is not running at the end of the trace does until then; nothing if that is
  // not known. `begin` is the end, for the turn that would follow.
  [[nodiscard]] std::optional<Turn> absence_at_end(Index thread, i64 end) const;

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_thread(const ThreadRecord& record) override;
  void finish(const Observed& observed) override;

 private:
  struct Processor {
    std::optional<Turn> turn;
    std::optional<i64> first, last;  // switches: the earliest and the latest
    bool began_back = false;         // the turn began with one that is older than an earlier one
    u64 breaks = 0;
  };
  enum class Where : u8 { unknown, created, running, off };
  struct Follow {
    Where where = Where::unknown;
    u16 cpu = 0;  // where it runs
    i64 since = 0;
    std::optional<ThreadState> state;
    std::optional<u8> wait_reason;
    std::optional<i8> priority;
    std::optional<i64> readied;
    std::optional<Readied> readied_early;  // while it ran
    Place ready_event;
    std::optional<u16> readied_on;
    Index waker = nobody;
    bool woken_in_dpc = false;
    std::optional<Adjustment> adjustment;
  };

  Follow& follow(Index thread);
  Processor& processor(u16 cpu);
  void end_turn(Processor& processor, const ContextSwitch& record, bool in_order);
  void leave(const ContextSwitch& record);
  static void make_ready(Follow& thread, const Readied& record);
  void enter(Processor& processor, const ContextSwitch& record);
  void describe_absence(Turn& turn, const Follow& thread) const;
  bool is_uncertain(i64 from, i64 to) const;
  Before absence_of(const Follow& thread, i64 until) const;

  Sink sink_;
  const Losses* losses_ = nullptr;
  const Population* population_ = nullptr;
  std::vector<Processor> processors_;
  std::vector<Follow> threads_;
  Counts counts_;
};

}  // namespace coldtrace::trace_analysis
