#pragma once

#include <deque>

#include "coldtrace/trace_analysis/disk_waits.hpp"
#include "coldtrace/trace_analysis/running_stacks.hpp"
#include "coldtrace/trace_analysis/turns.hpp"

namespace coldtrace::trace_analysis {

// Where threads were while they did not run: time off the processor by path of calls, which is the
// stack at the switch back to the thread, then what kept it off, then the request to a disk that it
// waited for, then who made it ready, with the stack of that one. The idle threads are not among
// them. A wait that does not end in the trace has no stack.
class WaitingStacks final : public Analysis {
 public:
  // `code` must outlive the analysis.
  WaitingStacks(CounterTicks counter, CodeNames& code)
      : turns_{[this](const Turn& turn) { end_turn(turn); }}, disk_{counter}, code_{code} {}
  WaitingStacks(const WaitingStacks&) = delete;
  WaitingStacks& operator=(const WaitingStacks&) = delete;

  const CallTree& tree() const { return tree_; }
  const StackJoin& stacks() const { return join_; }
  const Turns& turns() const { return turns_; }

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
  void add(const Pending& pending, Frame state, std::optional<i64> ticks, bool with_waker);

  Turns turns_;
  DiskWaits disk_;
  CodeNames& code_;
  StackJoin join_;
  CallTree tree_;
  std::vector<MaybeSlot> running_;  // by processor: of the switch to the thread that runs
  std::vector<MadeReady> readied_;  // by thread
  std::deque<Pending> pending_;
  std::vector<Frame> path_;
  const Population* population_ = nullptr;
};

}  // namespace coldtrace::trace_analysis
