#include "coldtrace/trace_analysis/processors/stacked_turns.hpp"

#include <utility>

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void StackedTurns::begin(const Observed& observed) {
  population_ = &observed.population;
  turns_.begin(observed);
  disk_.begin(observed);
}

void StackedTurns::release(MaybeSlot& slot) {
  if (slot) join_.release(*slot);
  slot.reset();
}

// A switch that ends no turn leaves the slot of the one that runs.
void StackedTurns::on_switch(const ContextSwitch& record) {
  turns_.on_switch(record);
  auto& slot = grown(running_, *record.moment.cpu);
  const bool is_idle = population_->threads()[record.new_thread].idle_of.has_value();
  if (!slot && !is_idle) slot = join_.expect(record.moment.time, record.new_thread);
}

void StackedTurns::on_ready(const Readied& record) {
  const auto superfluous = turns_.counts().superfluous;
  turns_.on_ready(record);
  if (turns_.counts().superfluous != superfluous) return;
  auto& readied = grown(readied_, record.thread);
  release(readied.stack);
  readied.request = disk_.last_of(record.thread);
  if (record.waker != nobody) readied.stack = join_.expect(record.moment.time, record.waker);
}

void StackedTurns::end_turn(const Turn& turn) {
  auto stack = std::exchange(grown(running_, turn.cpu), std::nullopt);
  auto [waker, request] = std::exchange(grown(readied_, turn.thread), {});
  if (waker && join_.time_of(*waker) != turn.readied) release(waker);
  if (!stack) {  // an idle thread
    release(waker);
    return;
  }
  std::optional<DiskAction> waited_for;
  if (request && disk_.explains(*request, turn)) waited_for = request->action;
  pending_.push_back({turn, *stack, waker, waited_for});
  while (pending_.size() > most_pending ||
         (!pending_.empty() && join_.frames_held() > most_pending_frames))
    take_oldest();
}

void StackedTurns::take_oldest() {
  auto& pending = pending_.front();
  const auto waker = pending.waker ? join_.frames(*pending.waker) : std::span<const u64>{};
  sink_({pending.turn, join_.frames(pending.stack), waker, pending.request});
  join_.release(pending.stack);
  release(pending.waker);
  pending_.pop_front();
}

void StackedTurns::finish(const Observed& observed) {
  turns_.finish(observed);
  while (!pending_.empty()) take_oldest();
}

}  // namespace coldtrace::trace_analysis
