#include "coldtrace/trace_analysis/waits/waiting_stacks.hpp"

namespace coldtrace::trace_analysis {

void WaitingStacks::begin(const Observed& observed) {
  population_ = &observed.population;
  file_waits_.begin(observed);
  turns_.begin(observed);
}

void WaitingStacks::on_switch(const ContextSwitch& record) {
  file_waits_.on_switch(record);
  turns_.on_switch(record);
}

void WaitingStacks::on_ready(const Readied& record) {
  file_waits_.on_ready(record);
  turns_.on_ready(record);
}

void WaitingStacks::on_thread(const ThreadRecord& record) {
  file_waits_.on_thread(record);
  turns_.on_thread(record);
}

void WaitingStacks::finish(const Observed& observed) {
  file_waits_.finish(observed);
  turns_.finish(observed);
}

// Explanations of turns that were taken already stay: there are no more than may be held.
void WaitingStacks::explain(const FileWaits::Explained& wait) {
  if (explained_.size() < most_pending)
    explained_.insert_or_assign(
        {wait.thread, wait.since},
        FileFrames{{Frame::Kind::file_operation, static_cast<u32>(wait.action)},
                   {Frame::Kind::file, wait.file}});
}

void WaitingStacks::add(const StackedTurns::Stacked& one, Frame state, std::optional<i64> ticks,
                        bool with_waker) {
  if (!ticks) return;
  const auto& turn = one.turn;
  path_.clear();
  path_.push_back({Frame::Kind::thread, turn.thread});
  append_frames(path_, one.stack, code_, pid_of(*population_, turn.thread), turn.begin);
  path_.push_back(state);
  if (state.kind == Frame::Kind::waiting && file_)
    path_.insert(path_.end(), {file_->first, file_->second});
  if (state.kind == Frame::Kind::waiting && one.request)
    path_.push_back({Frame::Kind::disk, static_cast<u32>(*one.request)});
  if (with_waker && turn.woken_in_dpc) path_.push_back({Frame::Kind::interrupt});
  if (with_waker && turn.waker != nobody) {
    path_.push_back({Frame::Kind::readied_by, turn.waker});
    append_frames(path_, one.waker, code_, pid_of(*population_, turn.waker), *turn.readied);
  }
  tree_.add(path_, {1, *ticks, 0});
}

void WaitingStacks::add(const StackedTurns::Stacked& one) {
  using K = Frame::Kind;
  const auto absence = absence_before(one.turn);
  file_.reset();
  if (one.turn.left) {
    const auto found = explained_.find({one.turn.thread, *one.turn.left});
    if (found != explained_.end()) {
      file_ = found->second;
      explained_.erase(found);
    }
  }
  add(one, {K::waiting, one.turn.wait_reason.value_or(Frame::no_reason)}, absence.waiting, true);
  add(one, {K::created}, absence.created, true);
  add(one, {K::ready}, absence.ready, false);
  add(one, {K::off}, absence.off, false);
  add(one, {K::swapped}, absence.swapped, false);
}

}  // namespace coldtrace::trace_analysis
