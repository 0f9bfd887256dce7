#pragma once

#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/tracefile/events/clock.hpp"
#include "coldtrace/tracefile/names/sampling_intervals.hpp"

namespace coldtrace::trace_analysis {

// Samples and the time that they stand for.
struct SampleSum {
  u64 samples = 0;
  i64 time = 0;    // ticks
  u64 firsts = 0;  // samples that stand for one interval, whose length the trace does not say

  void add(const SampleSum& other);
};

// How much time each sample stands for: the time since the previous sample of its processor. The
// first sample of a processor, and the first one after a stretch in which events may be missing,
// stands for one interval.
// Source: Microsoft, "CPU Analysis" (Windows Performance Toolkit), "CPU Usage (Sampled)".
class SampleWeights {
 public:
  // Both belong to the trace and must outlive the object.
  SampleWeights(core::Borrowed<tracefile::Clock> clock,
                core::Borrowed<tracefile::SamplingIntervals> intervals)
      : clock_{clock.get()}, intervals_{intervals.get()} {}

  void begin(const Observed& observed) { observed_ = &observed; }
  // One sample.
  SampleSum weigh(const Sample& sample);
  // Units of 100 ns, at the first event.
  [[nodiscard]] std::optional<u32> interval() const;

 private:
  const tracefile::Clock& clock_;
  const tracefile::SamplingIntervals& intervals_;
  const Observed* observed_ = nullptr;
  std::vector<std::optional<i64>> last_;  // sample, by processor
};

}  // namespace coldtrace::trace_analysis
