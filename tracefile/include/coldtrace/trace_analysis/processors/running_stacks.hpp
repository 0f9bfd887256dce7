#pragma once

#include <deque>
#include <functional>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/processors/call_tree.hpp"
#include "coldtrace/trace_analysis/processors/stack_join.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"

namespace coldtrace::trace_analysis {

// Who called what while it was sampled: time by call path. A sample whose stack is not in the trace
// is its address alone. DPCs and ISRs are separate from the threads that they interrupt.
class RunningStacks final : public Analysis {
 public:
  // Receives each sample in order, once its stack is known, with its node of tree().
  using Sink = std::function<void(const Sample&, const SampleSum&, u32 node)>;

  // All must outlive the analysis.
  RunningStacks(core::Borrowed<tracefile::Clock> clock,
                core::Borrowed<tracefile::SamplingIntervals> intervals, CodeNames& code,
                Sink each = {})
      : weights_{clock, intervals}, code_{code}, each_{std::move(each)} {}

  [[nodiscard]] const CallTree& tree() const { return tree_; }
  [[nodiscard]] const StackJoin& stacks() const { return join_; }

  void begin(const Observed& observed) override;
  void on_sample(const Sample& record) override;
  void on_stack(const StackWalk& record) override { join_.add(record); }
  void finish(const Observed& observed) override;

 private:
  struct Pending {
    Sample sample;
    SampleSum weight;
    StackJoin::Slot slot;
  };

  void take_oldest();

  SampleWeights weights_;
  CodeNames& code_;
  Sink each_;
  StackJoin join_;
  CallTree tree_;
  std::deque<Pending> pending_;  // samples whose stacks may still come
  std::vector<Frame> path_;
  const Population* population_ = nullptr;
};

// Adds the frames of a stack, outermost first.
void append_frames(std::vector<Frame>& path, std::span<const u64> frames, CodeNames& code,
                   std::optional<u32> pid, i64 time);

}  // namespace coldtrace::trace_analysis
