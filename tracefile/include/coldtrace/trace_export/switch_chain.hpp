#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_export/timeline.hpp"
#include "coldtrace/trace_export/timeline_names.hpp"

namespace coldtrace::trace_export {

// A processor goes from one thread to another, in the ids that a format gets.
struct ChainedSwitch {
  i64 time;  // nanoseconds
  u16 cpu;
  u32 old_id, new_id;
  std::optional<trace_analysis::ThreadState> old_state;  // nothing: not known
  std::optional<u8> wait_reason;
  std::optional<i8> old_priority, new_priority;
  Index old_thread, new_thread;  // nobody: one of those that only formats have
};

// Switches of each processor for formats that take them for a chain: each leaves the thread that
// the previous one went to. Where events are missing, or threads are not shown, the chain goes
// through a thread of that name, so that nobody gets the time.
class SwitchChain {
 public:
  // For threads that Windows has no ids for: its ids are multiples of four.
  static constexpr u32 lost_id = 1;
  static constexpr u32 not_shown_id = 2;

  using Sink = std::function<void(const ChainedSwitch&)>;
  // `names` must outlive it. Switches come in order of time for each processor, except that the one
  // to `lost_id` lies where the processor's state was last known, with the previous switch.
  SwitchChain(core::Borrowed<TimelineNames> names, Sink sink)
      : names_{names.get()}, sink_{std::move(sink)} {}

  // `ended` is the turn that the switch ends, null if none is known; `is_shown` is about the thread
  // that it goes to.
  void on_switch(const ContextSwitch& record, const Turn* ended, bool is_shown);
  // The last turn of its processor; if events are missing after it, nothing is known from its begin
  // on.
  void on_last_turn(const Turn& turn, bool misses_events);

  // The id that the chain has for the thread.
  [[nodiscard]] u32 id_of(Index thread) const;
  [[nodiscard]] bool has_lost() const { return has_lost_; }
  [[nodiscard]] bool has_not_shown() const { return has_not_shown_; }

 private:
  void break_at(const Turn& turn);
  void put(const ChainedSwitch& change);

  const TimelineNames& names_;
  Sink sink_;
  std::vector<std::optional<u32>> at_;  // by processor: where the chain has led
  bool has_lost_ = false, has_not_shown_ = false;
};

}  // namespace coldtrace::trace_export
