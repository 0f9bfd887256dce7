#include "coldtrace/trace_analysis/processors/running_stacks.hpp"

namespace coldtrace::trace_analysis {

void append_frames(std::vector<Frame>& path, std::span<const u64> frames, CodeNames& code,
                   std::optional<u32> pid, i64 time) {
  for (auto at = frames.rbegin(); at != frames.rend(); ++at)
    path.push_back({Frame::Kind::function, code.find(pid, *at, time).function});
}

void RunningStacks::begin(const Observed& observed) {
  population_ = &observed.population;
  weights_.begin(observed);
}

void RunningStacks::on_sample(const Sample& record) {
  pending_.push_back(
      {record, weights_.weigh(record), join_.expect(record.moment.time, record.thread)});
  while (pending_.size() > most_pending || join_.frames_held() > most_pending_frames) take_oldest();
}

// The innermost frame is where the processor was, also when that part of the stack is missing.
void RunningStacks::take_oldest() {
  const auto& [sample, weight, slot] = pending_.front();
  path_.clear();
  if (sample.in_isr)
    path_.push_back({Frame::Kind::isr});
  else if (sample.in_dpc)
    path_.push_back({Frame::Kind::dpc});
  else
    path_.push_back({Frame::Kind::thread, sample.thread});
  const auto pid = pid_of(*population_, sample.thread);
  const auto frames = join_.frames(slot);
  append_frames(path_, frames, code_, pid, sample.moment.time);
  if (frames.empty() || frames.front() != sample.address)
    append_frames(path_, {&sample.address, 1}, code_, pid, sample.moment.time);
  const auto node = tree_.add(path_, weight);
  if (each_) each_(sample, weight, node);
  join_.release(slot);
  pending_.pop_front();
}

void RunningStacks::finish(const Observed&) {
  while (!pending_.empty()) take_oldest();
}

}  // namespace coldtrace::trace_analysis
