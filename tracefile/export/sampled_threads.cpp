#include "coldtrace/trace_export/sampled_threads.hpp"

namespace coldtrace::trace_export {

using trace_analysis::nobody;
using trace_analysis::Sample;
using trace_analysis::ThreadClocks;

SampledThreads::SampledThreads(core::Borrowed<tracefile::AnyTrace> trace,
                               trace_analysis::CodeNames& code)
    : stacks_{trace.get().clock(), trace.get().names().sampling_intervals(), code,
              [this](const Sample& sample, const auto& sum, u32 node) {
                add(sample, {sample.moment.time, node, sum.time, ran_.front()});
                ran_.pop_front();
              }} {}

void SampledThreads::add(const Sample& sample, const ThreadSample& one) {
  if (samples_ == most_samples) {
    ++left_out_;
    return;
  }
  ++samples_;
  threads_[sample.in_dpc || sample.in_isr ? nobody : sample.thread].push_back(one);
}

void SampledThreads::begin(const trace_analysis::Observed& observed) {
  clocks_.begin(observed);
  stacks_.begin(observed);
}

void SampledThreads::on_sample(const Sample& record) {
  std::optional<i64> ran;
  if (record.thread != nobody && !record.in_dpc && !record.in_isr) {
    const auto now = clocks_.read(record.thread, record.moment.time);
    auto& before = readings_[record.thread];
    ran = ThreadClocks::between(before, now);
    before = now;
  }
  ran_.push_back(ran);
  stacks_.on_sample(record);
}

}  // namespace coldtrace::trace_export
