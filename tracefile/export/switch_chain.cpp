#include "coldtrace/trace_export/switch_chain.hpp"

namespace coldtrace::trace_export {

u32 SwitchChain::id_of(Index thread) const {
  return thread == nobody ? lost_id : names_.population().threads()[thread].tid;
}

void SwitchChain::put(const ChainedSwitch& change) {
  at_[change.cpu] = change.new_id;
  sink_(change);
}

// What is known of the processor ends with the switch to the thread of the turn.
void SwitchChain::break_at(const Turn& turn) {
  has_lost_ = true;
  put({names_.nanoseconds(turn.begin), turn.cpu, id_of(turn.thread), lost_id, std::nullopt,
       std::nullopt, turn.in_priority, std::nullopt, turn.thread, nobody});
}

void SwitchChain::on_switch(const ContextSwitch& record, const Turn* ended, bool is_shown) {
  const auto cpu = *record.moment.cpu;
  if (cpu >= at_.size()) at_.resize(std::size_t{cpu} + 1);
  const auto time = names_.nanoseconds(record.moment.time);
  // Nothing is said of the time before the first thread that is shown.
  if (!at_[cpu] && !is_shown) return;
  const auto old_id = id_of(record.old_thread);
  if (!at_[cpu]) at_[cpu] = old_id;
  if (ended != nullptr && !ended->end && *at_[cpu] == id_of(ended->thread)) break_at(*ended);
  auto leaves = *at_[cpu];
  if (leaves == lost_id) {
    // It was on the processor when the switch came, and nobody knows since when.
    put({time, cpu, lost_id, old_id, std::nullopt, std::nullopt, std::nullopt, record.old_priority,
         nobody, record.old_thread});
    leaves = old_id;
  }
  if (!is_shown) has_not_shown_ = true;
  const auto comes = is_shown ? id_of(record.new_thread) : not_shown_id;
  if (leaves == not_shown_id && comes == not_shown_id) return;
  ChainedSwitch change{time,
                       cpu,
                       leaves,
                       comes,
                       std::nullopt,
                       std::nullopt,
                       record.old_priority,
                       record.new_priority,
                       nobody,
                       is_shown ? record.new_thread : nobody};
  if (leaves == old_id) {
    change.old_state = record.old_state;
    change.wait_reason = record.wait_reason;
    change.old_thread = record.old_thread;
  }
  put(change);
}

// A slice that does not end is drawn up to the end of the trace.
void SwitchChain::on_last_turn(const Turn& turn, bool misses_events) {
  if (misses_events && turn.cpu < at_.size() && at_[turn.cpu] == id_of(turn.thread)) break_at(turn);
}

}  // namespace coldtrace::trace_export
