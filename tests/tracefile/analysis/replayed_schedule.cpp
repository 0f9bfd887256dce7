#include "tests/tracefile/analysis/replayed_schedule.hpp"

#include <array>

namespace coldtrace::fixtures {

using namespace trace_analysis;

ReplayedSchedule::ReplayedSchedule(const std::vector<RandomSchedule::Step>& steps, Analysis& answer,
                                   std::optional<std::size_t> without) {
  const Losses losses;
  const Observed observed{population_, losses, steps.front().time, steps.back().time};
  answer.begin(observed);
  std::array<Index, RandomSchedule::processors> current;
  current.fill(nobody);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i == without) continue;
    const auto& step = steps[i];
    const Moment moment{step.time, step.cpu, {0, static_cast<u32>(i)}};
    if (!step.is_switch) {
      const auto waker = step.waker == 0 ? nobody : thread(step.waker);
      answer.on_ready({moment, thread(step.readied), waker, step.waker == 0});
      continue;
    }
    ContextSwitch record{};
    record.moment = moment;
    record.old_thread = find(step.old_tid, step.cpu);
    record.new_thread = find(step.new_tid, step.cpu);
    record.continues = current[step.cpu] == record.old_thread;
    record.old_state = static_cast<ThreadState>(step.old_state);
    record.wait_reason = step.reason;
    current[step.cpu] = record.new_thread;
    answer.on_switch(record);
  }
  answer.finish(observed);
}

Index ReplayedSchedule::find(u32 tid, u16 cpu) {
  return tid == 0 ? population_.idle_thread(cpu) : thread(tid);
}

}  // namespace coldtrace::fixtures
