#pragma once

#include <map>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/processors/running_stacks.hpp"
#include "coldtrace/trace_analysis/processors/stacked_turns.hpp"
#include "coldtrace/trace_analysis/waits/file_waits.hpp"

namespace coldtrace::trace_analysis {

// Where threads were while they did not run: time off the processor by call path. A path is the
// stack at the switch back to the thread, then what kept it off the processor, then the file system
// operation and the disk request that it waited for, then who made it ready, with the stack of that
// thread. Idle threads are not included. A wait that does not end in the trace has no stack.
class WaitingStacks final : public Analysis {
 public:
  // `names` and `code` must outlive the analysis.
  WaitingStacks(CounterTicks counter, core::Borrowed<tracefile::NameTables> names, CodeNames& code)
      : file_waits_{counter, names, [this](const FileWaits::Explained& wait) { explain(wait); }},
        turns_{counter, [this](const StackedTurns::Stacked& one) { add(one); }},
        code_{code} {}
  WaitingStacks(const WaitingStacks&) = delete;
  WaitingStacks& operator=(const WaitingStacks&) = delete;

  [[nodiscard]] const CallTree& tree() const { return tree_; }
  // The table that frames of files refer to.
  [[nodiscard]] const FileTable& files() const { return file_waits_.files(); }
  [[nodiscard]] const StackJoin& stacks() const { return turns_.stacks(); }
  [[nodiscard]] const Turns& turns() const { return turns_.turns(); }

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_thread(const ThreadRecord& record) override;
  void on_interruption(const Interruption& record) override { file_waits_.on_interruption(record); }
  void on_file_start(const FileStart& record) override { file_waits_.on_file_start(record); }
  void on_file_end(const FileEnd& record) override { file_waits_.on_file_end(record); }
  void on_disk_start(const DiskStart& record) override { turns_.on_disk_start(record); }
  void on_disk_end(const DiskEnd& record) override { turns_.on_disk_end(record); }
  void on_stack(const StackWalk& record) override { turns_.on_stack(record); }
  void finish(const Observed& observed) override;

 private:
  void explain(const FileWaits::Explained& wait);
  void add(const StackedTurns::Stacked& one);
  void add(const StackedTurns::Stacked& one, Frame state, std::optional<i64> ticks,
           bool with_waker);

  using FileFrames = std::pair<Frame, Frame>;  // an operation and its file

  FileWaits file_waits_;
  StackedTurns turns_;
  CodeNames& code_;
  std::map<std::pair<Index, i64>, FileFrames> explained_;  // by thread and begin of the wait
  std::optional<FileFrames> file_;                         // of the turn that is added
  CallTree tree_;
  std::vector<Frame> path_;
  const Population* population_ = nullptr;
};

}  // namespace coldtrace::trace_analysis
