#include "coldtrace/trace_analysis/processors/sample_weights.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void SampleSum::add(const SampleSum& other) {
  samples += other.samples;
  add_ticks(time, other.time);
  firsts += other.firsts;
}

SampleSum SampleWeights::weigh(const Sample& sample) {
  const auto cpu = *sample.moment.cpu;
  const auto time = sample.moment.time;
  const auto before = std::exchange(grown(last_, cpu), time);
  if (before && !observed_->losses.on(cpu, *before, time))
    return {1, ticks_between(*before, time), 0};
  const auto interval = intervals_.at(time);
  if (!interval) return {1, 0, 1};
  return {1, clock_.to_ticks(*interval), 0};
}

std::optional<u32> SampleWeights::interval() const {
  return intervals_.at(observed_->first.value_or(0));
}

}  // namespace coldtrace::trace_analysis
