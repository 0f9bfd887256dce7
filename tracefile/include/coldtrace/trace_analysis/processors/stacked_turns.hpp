#pragma once

#include <deque>
#include <functional>

#include "coldtrace/trace_analysis/processors/disk_waits.hpp"
#include "coldtrace/trace_analysis/processors/stack_join.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// Turns with two stacks: that of the switch to the thread, which shows where the thread was before,
// and that of the event that made it ready. Stacks come later than their events, and so do these
// turns. Those of idle threads are not included.
class StackedTurns final : public Analysis {
 public:
  struct Stacked {
    const Turn& turn;
    // Innermost first; empty if the trace has none.
    std::span<const u64> stack;
    std::span<const u64> waker;
    std::optional<DiskAction> request;  // that explains the wait before the turn
  };
  using Sink = std::function<void(const Stacked&)>;

  StackedTurns(CounterTicks counter, Sink sink)
      : turns_{[this](const Turn& turn) { end_turn(turn); }},
        disk_{counter},
        sink_{std::move(sink)} {}
  StackedTurns(const StackedTurns&) = delete;
  StackedTurns& operator=(const StackedTurns&) = delete;

  [[nodiscard]] const StackJoin& stacks() const { return join_; }
  [[nodiscard]] const Turns& turns() const { return turns_; }

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void on_disk_start(const DiskStart& record) override { disk_.on_disk_start(record); }
  void on_disk_end(const DiskEnd& record) override { disk_.on_disk_end(record); }
  void on_stack(const StackWalk& record) override { join_.add(record); }
  void finish(const Observed& observed) override;

 private:
  using MaybeSlot = std::optional<StackJoin::Slot>;
  struct MadeReady {
    MaybeSlot stack;  // of the event that says so
    std::optional<DiskWaits::Ended> request;
  };
  struct Pending {
    Turn turn;
    StackJoin::Slot stack;  // of the switch to the thread
    MaybeSlot waker;        // of the event that made it ready
    std::optional<DiskAction> request;
  };

  void end_turn(const Turn& turn);
  void release(MaybeSlot& slot);
  void take_oldest();

  Turns turns_;
  DiskWaits disk_;
  Sink sink_;
  StackJoin join_;
  std::vector<MaybeSlot> running_;  // by processor: of the switch to the thread that runs
  std::vector<MadeReady> readied_;  // by thread
  std::deque<Pending> pending_;
  const Population* population_ = nullptr;
};

}  // namespace coldtrace::trace_analysis
