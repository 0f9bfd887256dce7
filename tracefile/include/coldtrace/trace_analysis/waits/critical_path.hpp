#pragma once

#include <deque>
#include <span>

#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// One stretch of a critical path: who was where, and what ended that.
struct Hop {
  enum class Kind : u8 {
    running,
    ready,      // made ready, and not yet switched to
    preempted,  // pushed off the processor, and not yet switched to
    interrupt,  // it waited, and an interrupt ended that: a device or a timer
    // It waited, and nothing in the trace shows what ended that; or whoever did is deeper in waits
    // than is followed, or waited for this very thread.
    waiting,
    off,      // it waited or was ready: no event says which
    swapped,  // its stack or its process was swapped out
    unknown,  // events are missing, or begin later
  };
  enum class End : u8 {
    path,         // the path ends
    switch_in,    // it was given a processor
    switch_out,   // it, or the thread that waits for it, left the processor
    made_ready,   // somebody was made ready: by it, or it itself
    thread_start  // it started the thread that follows
  };

  Index thread = nobody;
  Kind kind = Kind::unknown;
  i64 from = 0, to = 0;  // ticks
  End end = End::path;
  std::optional<Place> event;          // that ended it
  u32 depth = 0;                       // of the waits that it is part of
  std::optional<u16> cpu;              // where it ran
  std::optional<u8> wait_reason;       // of interrupt and waiting: a KWAIT_REASON
  std::optional<Service> interrupter;  // of interrupt: the routine that ended the wait
};
[[nodiscard]] std::string_view to_string(Hop::Kind kind);
[[nodiscard]] std::string_view to_string(Hop::End end);

// What an interval in the life of a thread was spent on: where it waited, the path follows the
// thread that ended the wait and what that did meanwhile, and so on. Keeps the turns of the window
// that is asked for. Source: F. Giraldeau, M. Dagenais, "Wait analysis of distributed systems using
// kernel tracing", IEEE TPDS 27(8), 2016: the history of who wakes whom is walked backwards from
// the wake-up to the beginning of the wait.
class CriticalPath final : public Analysis {
 public:
  // Turns that end before `from` are not needed.
  explicit CriticalPath(i64 from);

  // Consecutive hops from `from` to `to`; their lengths add up to the interval. To be called once
  // the trace is read, with no time before the window.
  [[nodiscard]] std::vector<Hop> find(Index thread, i64 from, i64 to) const;

  // Everything from this time on is kept: windows longer than memory holds are unknown before it.
  [[nodiscard]] std::optional<i64> given_up_before() const { return given_up_before_; }
  // DPCs that were given up too, the oldest first: hops that they end lack their routine.
  [[nodiscard]] u64 interrupts_given_up() const { return interrupts_given_up_; }
  [[nodiscard]] const Turns& turns() const { return turns_; }

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override { turns_.on_switch(record); }
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void on_interruption(const Interruption& record) override;
  void finish(const Observed& observed) override;

  static constexpr std::size_t most_depth = 256;  // of waits in waits
  static constexpr std::size_t most_turns = std::size_t{1} << 18;

 private:
  // What is kept of a Turn: there may be very many of these.
  struct Kept {
    explicit Kept(const Turn& turn);

    std::optional<i64> end() const { return has_end ? std::optional{end_time} : std::nullopt; }
    std::optional<i64> left() const { return has_left ? std::optional{left_time} : std::nullopt; }
    std::optional<i64> readied() const {
      return is_readied ? std::optional{ready_time} : std::nullopt;
    }
    Place place() const { return {buffer, offset}; }
    Place ended_at() const { return {end_buffer, end_offset}; }
    Place ready_event() const { return {ready_buffer, ready_offset}; }

    i64 begin, end_time, left_time, ready_time;
    u64 buffer, end_buffer, ready_buffer;
    u32 offset, end_offset, ready_offset;
    Index thread, waker;
    u16 cpu;
    std::optional<u16> readied_on;
    std::optional<u8> wait_reason;
    Before before;
    bool has_end : 1, has_left : 1, is_readied : 1, woken_in_dpc : 1;
  };

  // What a thread did just before a moment.
  struct Span {
    Hop::Kind kind = Hop::Kind::unknown;
    i64 since = 0;
    Hop::End start = Hop::End::path;  // how it began, for the hop before it
    std::optional<Place> start_event;
    const Kept* turn = nullptr;  // the one that it is, or that it comes before
    bool unborn = false;         // the thread had not begun
  };
  struct Interrupt {
    i64 begin, end;
    Service routine;
  };

  void keep(const Turn& turn);
  std::span<const u32> turns_of(Index thread) const;
  Span before(Index thread, i64 time) const;
  static Span absence(const Kept& next, const Kept* last, i64 time);
  std::optional<Service> interrupter(const Kept& turn) const;

  i64 from_;
  Turns turns_;
  const Population* population_ = nullptr;
  std::deque<Kept> kept_;
  std::vector<u32> by_thread_;                  // of these, then by time, once the trace is read
  std::vector<std::vector<Interrupt>> by_cpu_;  // by their ends
  u64 interrupts_given_up_ = 0;
  std::vector<bool> runs_at_end_;  // by thread
  std::optional<i64> given_up_before_;
};

}  // namespace coldtrace::trace_analysis
