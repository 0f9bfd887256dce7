#include "coldtrace/trace_analysis/waits/wakes.hpp"

#include <utility>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

// In the order of processors a thread that moves within one tick is switched in before it is
// switched out: it does not wait.
void Wakes::switched(const ContextSwitch& record) {
  any_switch_ = true;
  const auto cpu = *record.moment.cpu;
  const auto time = record.moment.time;
  if (std::exchange(grown(off_, record.new_thread), std::nullopt)) ++unseen_;
  auto& run = grown(runs_, record.old_thread);
  const bool elsewhere = run && run->cpu != cpu && run->since == time;
  if (!elsewhere) {
    run.reset();
    if (is_waiting(record.old_state))
      grown(off_, record.old_thread) = {record.moment, record.wait_reason};
  }
  grown(runs_, record.new_thread) = {cpu, time};
}

void Wakes::ended(Index thread) {
  if (thread < off_.size()) off_[thread].reset();
}

void Wakes::readied(const Readied& record, const Losses& losses) {
  any_ready_ = true;
  if (record.thread >= off_.size() || !off_[record.thread]) return;
  const auto [since, reason] = *std::exchange(off_[record.thread], std::nullopt);
  const Key key{record.thread, record.waker, record.in_dpc};
  auto number = numbers_.find(key);
  if (number == numbers_.end()) {
    if (edges_.size() >= most_edges) {
      ++left_out_;
      return;
    }
    number = numbers_.emplace(key, static_cast<u32>(edges_.size())).first;
    edges_.push_back({record.thread, record.waker, record.in_dpc});
  }
  auto& edge = edges_[number->second];
  ++edge.count;
  if (losses.anywhere(since.time, record.moment.time)) {
    ++edge.unknown;
    return;
  }
  const auto length = ticks_between(since.time, record.moment.time);
  add_ticks(edge.total, length);
  if (edge.measured++ > 0 && length <= edge.longest) return;
  edge.longest = length;
  edge.longest_since = since;
  edge.longest_reason = reason;
}

}  // namespace coldtrace::trace_analysis
