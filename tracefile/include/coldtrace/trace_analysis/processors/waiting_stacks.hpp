#pragma once

#include "coldtrace/trace_analysis/processors/running_stacks.hpp"
#include "coldtrace/trace_analysis/processors/stacked_turns.hpp"

namespace coldtrace::trace_analysis {

// Where threads were while they did not run: time off the processor by path of calls, which is the
// stack at the switch back to the thread, then what kept it off, then the request to a disk that it
// waited for, then who made it ready, with the stack of that one. The idle threads are not among
// them. A wait that does not end in the trace has no stack.
class WaitingStacks final : public Analysis {
 public:
  // `code` must outlive the analysis.
  WaitingStacks(CounterTicks counter, CodeNames& code)
      : turns_{counter, [this](const StackedTurns::Stacked& one) { add(one); }}, code_{code} {}
  WaitingStacks(const WaitingStacks&) = delete;
  WaitingStacks& operator=(const WaitingStacks&) = delete;

  const CallTree& tree() const { return tree_; }
  const StackJoin& stacks() const { return turns_.stacks(); }
  const Turns& turns() const { return turns_.turns(); }

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override { turns_.on_switch(record); }
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void on_disk_start(const DiskStart& record) override { turns_.on_disk_start(record); }
  void on_disk_end(const DiskEnd& record) override { turns_.on_disk_end(record); }
  void on_stack(const StackWalk& record) override { turns_.on_stack(record); }
  void finish(const Observed& observed) override { turns_.finish(observed); }

 private:
  void add(const StackedTurns::Stacked& one);
  void add(const StackedTurns::Stacked& one, Frame state, std::optional<i64> ticks,
           bool with_waker);

  StackedTurns turns_;
  CodeNames& code_;
  CallTree tree_;
  std::vector<Frame> path_;
  const Population* population_ = nullptr;
};

}  // namespace coldtrace::trace_analysis
