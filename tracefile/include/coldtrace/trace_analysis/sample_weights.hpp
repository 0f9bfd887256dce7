#pragma once

#include <vector>

#include "coldtrace/trace_analysis/analysis.hpp"
#include "coldtrace/tracefile/clock.hpp"

namespace coldtrace::trace_analysis {

// Samples and the time that they stand for.
struct SampleSum {
  u64 samples = 0;
  i64 time = 0;    // ticks
  u64 firsts = 0;  // samples that stand for one interval, which was not known yet

  void add(const SampleSum& other);
};

// How much time each sample stands for: since the sample before it of its processor. The first one
// of a processor, and the first one behind a stretch that events may be missing from, stands for
// one interval.
// Source: Microsoft, "CPU Analysis" (Windows Performance Toolkit), "CPU Usage (Sampled)".
class SampleWeights {
 public:
  // The clock of the trace, which must outlive the object.
  explicit SampleWeights(const tracefile::Clock& clock) : clock_{clock} {}
  explicit SampleWeights(const tracefile::Clock&&) = delete;

  void begin(const Observed& observed) { losses_ = &observed.losses; }
  // One sample.
  SampleSum weigh(const Sample& sample);
  void on_interval(const SamplingInterval& record);

  // Once the trace has ended: gives first samples their interval, when the trace says it.
  void settle(SampleSum& sum) const;
  // Units of 100 ns, as the trace first said.
  std::optional<u32> interval() const { return first_interval_; }

 private:
  const tracefile::Clock& clock_;
  const Losses* losses_ = nullptr;
  std::vector<std::optional<i64>> last_;  // sample, by processor
  std::optional<u32> first_interval_, interval_;
};

}  // namespace coldtrace::trace_analysis
