#include "coldtrace/trace_analysis/sample_weights.hpp"

#include "coldtrace/trace_analysis/ticks.hpp"
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
  if (before && !losses_->on(cpu, *before, time)) return {1, ticks_between(*before, time), 0};
  if (!interval_) return {1, 0, 1};
  return {1, clock_.to_ticks(*interval_), 0};
}

// What was in force before the first of these events was so since sampling began.
void SampleWeights::on_interval(const SamplingInterval& record) {
  interval_ = record.now;
  if (!first_interval_) first_interval_ = record.before != 0 ? record.before : record.now;
}

void SampleWeights::settle(SampleSum& sum) const {
  if (!first_interval_) return;
  i64 time = 0;
  if (__builtin_mul_overflow(clock_.to_ticks(*first_interval_), static_cast<i64>(sum.firsts),
                             &time))
    time = std::numeric_limits<i64>::max();
  add_ticks(sum.time, time);
  sum.firsts = 0;
}

}  // namespace coldtrace::trace_analysis
