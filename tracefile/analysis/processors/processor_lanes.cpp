#include "coldtrace/trace_analysis/processors/processor_lanes.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {
namespace {

// Damaged traces may name any processor.
constexpr std::size_t most_lanes = 4096;

}  // namespace

ProcessorLanes::ProcessorLanes(std::size_t most_slices, std::size_t most_details)
    : turns_{[this](const Turn& turn) { add(turn); }},
      most_slices_{most_slices},
      most_details_{most_details} {}

void ProcessorLanes::begin(const Observed& observed) {
  observed_ = &observed;
  turns_.begin(observed);
}

void ProcessorLanes::on_switch(const ContextSwitch& record) {
  switch_ = &record;
  turns_.on_switch(record);
  switch_ = nullptr;
}

void ProcessorLanes::finish(const Observed& observed) {
  turns_.finish(observed);
  for (std::size_t cpu = 0; cpu < told_until_.size(); ++cpu)
    if (observed.last && *observed.last > told_until_[cpu])
      push(static_cast<u16>(cpu), {told_until_[cpu], *observed.last, 0, 1, 0, nobody});
}

void ProcessorLanes::add(const Turn& turn) {
  if (turn.cpu >= most_lanes) return;
  const auto first = observed_->first.value_or(turn.begin);
  if (told_until_.size() <= turn.cpu) {
    told_until_.resize(std::size_t{turn.cpu} + 1, first);
    lanes_.resize(told_until_.size());
    lanes_.begin(first);
    busy_.begin(first);
  }
  auto& told_until = told_until_[turn.cpu];
  if (!turn.end || *turn.end < turn.begin) return;
  if (turn.begin < told_until) {
    ++overlapping_;
    return;
  }
  if (turn.begin > told_until) push(turn.cpu, {told_until, turn.begin, 0, 1, 0, nobody});
  told_until = *turn.end;
  if (turn.thread == nobody || observed_->population.threads()[turn.thread].idle_of) return;
  ++turns_seen_;
  busy_.add(turn.begin, *turn.end);
  const auto ticks = ticks_between(turn.begin, *turn.end);
  push(turn.cpu, {turn.begin, *turn.end, ticks, 1, ticks, turn.thread, describe(turn)});
}

u32 ProcessorLanes::describe(const Turn& turn) {
  if (details_.size() >= most_details_) return SliceLanes::no_details;
  Details details{.readied = turn.readied,
                  .waker = turn.waker,
                  .woken_in_dpc = turn.woken_in_dpc,
                  .priority = turn.in_priority,
                  .place = turn.place};
  if (switch_ != nullptr && switch_->old_thread == turn.thread) {
    details.state = switch_->old_state;
    if (is_waiting(switch_->old_state)) details.wait_reason = switch_->wait_reason;
  }
  details_.push_back(details);
  return static_cast<u32>(details_.size() - 1);
}

void ProcessorLanes::push(u16 cpu, const SliceLanes::Slice& slice) {
  lanes_.push(cpu, slice);
  if (lanes_.slices() > most_slices_) lanes_.coarsen(most_slices_ / 4 * 3);
}

}  // namespace coldtrace::trace_analysis
