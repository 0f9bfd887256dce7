#include "coldtrace/trace_analysis/scheduling/longest_waits.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {
namespace {

bool comes_before(const LongWait& one, const LongWait& other) {
  const auto length = ticks_between(one.from, one.to);
  const auto other_length = ticks_between(other.from, other.to);
  if (length != other_length) return length > other_length;
  return std::pair{one.from, one.thread} < std::pair{other.from, other.thread};
}

}  // namespace

void LongestWaits::add(const Turn& turn) {
  const auto absence = absence_before(turn);
  const auto length = absence.waiting ? *absence.waiting : turn.left ? absence.off.value_or(0) : 0;
  if (length == 0 || turn.before == Before::created || population_->threads()[turn.thread].idle_of)
    return;
  ++count_;
  if (wanted_ == 0) return;
  LongWait wait{.thread = turn.thread,
                .from = *turn.left,
                .to = turn.begin,
                .told = absence.waiting.has_value(),
                .reason = turn.wait_reason,
                .event = turn.place};
  if (wait.told) {
    wait.to = *turn.readied;
    wait.waker = turn.waker;
    wait.in_dpc = turn.woken_in_dpc;
    wait.event = turn.ready_event;
  }
  if (heap_.size() == wanted_) {
    if (!comes_before(wait, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), comes_before);
    heap_.pop_back();
  }
  heap_.push_back(wait);
  std::push_heap(heap_.begin(), heap_.end(), comes_before);
}

std::vector<LongWait> LongestWaits::longest() const {
  auto waits = heap_;
  std::sort_heap(waits.begin(), waits.end(), comes_before);
  return waits;
}

}  // namespace coldtrace::trace_analysis
