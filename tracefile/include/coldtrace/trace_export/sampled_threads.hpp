#pragma once

#include <deque>
#include <map>
#include <vector>

#include "coldtrace/trace_analysis/processors/running_stacks.hpp"
#include "coldtrace/trace_analysis/services/thread_clocks.hpp"

namespace coldtrace::trace_export {

// A sample with its stack, and how long its thread has run since the previous one.
struct ThreadSample {
  i64 time;
  u32 node;                // of the tree of calls
  i64 weight;              // ticks
  std::optional<i64> ran;  // ticks; nothing if no switches tell, or for the first sample
};

// The samples of each thread in order; those of DPCs and ISRs are nobody's.
class SampledThreads final : public trace_analysis::Analysis {
 public:
  // Samples beyond this are counted.
  static constexpr u64 most_samples = u64{1} << 22U;

  // All must outlive it.
  SampledThreads(core::Borrowed<tracefile::AnyTrace> trace, trace_analysis::CodeNames& code);
  SampledThreads(const SampledThreads&) = delete;
  SampledThreads& operator=(const SampledThreads&) = delete;

  [[nodiscard]] const trace_analysis::CallTree& tree() const { return stacks_.tree(); }
  [[nodiscard]] const trace_analysis::StackJoin& stacks() const { return stacks_.stacks(); }
  [[nodiscard]] const std::map<trace_analysis::Index, std::vector<ThreadSample>>& threads() const {
    return threads_;
  }

  [[nodiscard]] u64 left_out() const { return left_out_; }

  void begin(const trace_analysis::Observed& observed) override;
  void on_switch(const trace_analysis::ContextSwitch& record) override {
    clocks_.on_switch(record);
  }
  void on_sample(const trace_analysis::Sample& record) override;
  void on_stack(const trace_analysis::StackWalk& record) override { stacks_.on_stack(record); }
  void finish(const trace_analysis::Observed& observed) override { stacks_.finish(observed); }

 private:
  void add(const trace_analysis::Sample& sample, const ThreadSample& one);

  using Reading = std::optional<trace_analysis::ThreadClocks::Reading>;

  trace_analysis::ThreadClocks clocks_;
  trace_analysis::RunningStacks stacks_;
  std::deque<std::optional<i64>> ran_;  // of the samples whose stacks may still come
  std::map<trace_analysis::Index, Reading> readings_;
  std::map<trace_analysis::Index, std::vector<ThreadSample>> threads_;
  u64 samples_ = 0, left_out_ = 0;
};

}  // namespace coldtrace::trace_export
