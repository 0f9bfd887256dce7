#include "coldtrace/trace_analysis/waiting_stacks.hpp"

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void WaitingStacks::begin(const Observed& observed) {
  population_ = &observed.population;
  turns_.begin(observed);
  disk_.begin(observed);
}

void WaitingStacks::release(MaybeSlot& slot) {
  if (slot) join_.release(*slot);
  slot.reset();
}

// A switch that ends no turn leaves the slot of the one that runs.
void WaitingStacks::on_switch(const ContextSwitch& record) {
  turns_.on_switch(record);
  auto& slot = grown(running_, *record.moment.cpu);
  const bool is_idle = population_->threads()[record.new_thread].idle_of.has_value();
  if (!slot && !is_idle) slot = join_.expect(record.moment.time, record.new_thread);
}

void WaitingStacks::on_ready(const Readied& record) {
  const auto superfluous = turns_.counts().superfluous;
  turns_.on_ready(record);
  if (turns_.counts().superfluous != superfluous) return;
  auto& readied = grown(readied_, record.thread);
  release(readied.stack);
  readied.request = disk_.last_of(record.thread);
  if (record.waker != nobody) readied.stack = join_.expect(record.moment.time, record.waker);
}

void WaitingStacks::end_turn(const Turn& turn) {
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

void WaitingStacks::add(const Pending& pending, Frame state, std::optional<i64> ticks,
                        bool with_waker) {
  if (!ticks) return;
  const auto& turn = pending.turn;
  path_.clear();
  path_.push_back({Frame::Kind::thread, turn.thread});
  append_frames(path_, join_.frames(pending.stack), code_, pid_of(*population_, turn.thread),
                turn.begin);
  path_.push_back(state);
  if (state.kind == Frame::Kind::waiting && pending.request)
    path_.push_back({Frame::Kind::disk, static_cast<u32>(*pending.request)});
  if (with_waker && turn.woken_in_dpc) path_.push_back({Frame::Kind::interrupt});
  if (with_waker && turn.waker != nobody) {
    path_.push_back({Frame::Kind::readied_by, turn.waker});
    if (pending.waker)
      append_frames(path_, join_.frames(*pending.waker), code_, pid_of(*population_, turn.waker),
                    *turn.readied);
  }
  tree_.add(path_, {1, *ticks, 0});
}

void WaitingStacks::take_oldest() {
  using K = Frame::Kind;
  auto& pending = pending_.front();
  const auto absence = absence_before(pending.turn);
  add(pending, {K::waiting, pending.turn.wait_reason.value_or(Frame::no_reason)}, absence.waiting,
      true);
  add(pending, {K::created}, absence.created, true);
  add(pending, {K::ready}, absence.ready, false);
  add(pending, {K::off}, absence.off, false);
  add(pending, {K::swapped}, absence.swapped, false);
  join_.release(pending.stack);
  release(pending.waker);
  pending_.pop_front();
}

void WaitingStacks::finish(const Observed& observed) {
  turns_.finish(observed);
  while (!pending_.empty()) take_oldest();
}

}  // namespace coldtrace::trace_analysis
