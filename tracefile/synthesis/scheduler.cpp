#include "tracefile/synthesis/scheduler.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

constexpr i8 least_realtime_priority = 16;  // these are never boosted

bool may_run(const Thread& thread, const Processor& processor) {
  return (thread.affinity >> processor.index & 1) != 0;
}

// Of what will run there.
i8 priority_of(const Processor& processor) {
  return processor.next != nullptr ? processor.next->priority : processor.current->priority;
}

}  // namespace

// An interrupt reaches the other processor within some microseconds.
u64 Scheduler::wake_latency() {
  return 15 + state_.random.below(6);
}

std::deque<Thread*>& Scheduler::queue_of(const Thread& thread) {
  return ready_[static_cast<u8>(thread.priority)];
}

void Scheduler::make_ready(Thread& thread) {
  make_ready(thread, Place::tail, wake_latency());
}

void Scheduler::make_ready(Thread& thread, Place place, u64 latency) {
  thread.state = ThreadState::ready;
  if (auto* idle = find_idle(thread)) return claim(*idle, thread, latency);
  if (auto* victim = find_victim(thread)) return claim(*victim, thread, latency);
  auto& queue = queue_of(thread);
  queue.insert(place == Place::head ? queue.begin() : queue.end(), &thread);
}

// The one where it ran last is the best: its caches are warm.
Processor* Scheduler::find_idle(const Thread& thread) {
  Processor* found = nullptr;
  for (auto& processor : state_.processors) {
    if (!processor.is_idle() || !may_run(thread, processor)) continue;
    if (processor.index == thread.last_processor) return &processor;
    if (found == nullptr) found = &processor;
  }
  return found;
}

Processor* Scheduler::find_victim(const Thread& thread) {
  Processor* found = nullptr;
  for (auto& processor : state_.processors) {
    const i8 priority = priority_of(processor);
    if (priority >= thread.priority || !may_run(thread, processor)) continue;
    const bool is_last = processor.index == thread.last_processor;
    if (found == nullptr || priority < priority_of(*found) ||
        (is_last && priority == priority_of(*found)))
      found = &processor;
  }
  return found;
}

void Scheduler::claim(Processor& processor, Thread& thread, u64 latency) {
  auto* const displaced = std::exchange(processor.next, &thread);
  thread.state = ThreadState::standby;
  if (displaced != nullptr) make_ready(*displaced, Place::head, 0);
  // What happens here looks for itself when it is done.
  if (&processor == state_.here) return;
  state_.events.at(state_.now() + latency, [this, &processor] { state_.look(processor); });
}

void Scheduler::boost(Thread& thread, u8 increment) {
  if (thread.base_priority >= least_realtime_priority) return;
  const int boosted = std::min(thread.base_priority + increment, least_realtime_priority - 1);
  if (thread.priority >= boosted) return;
  thread.priority = static_cast<i8>(boosted);
  state_.accounts.priority_changed(state_.now(), thread);
}

Thread* Scheduler::find_ready(const Processor& processor, i8 least_priority) const {
  for (std::size_t priority = ready_.size(); priority-- > 0;) {
    if (static_cast<i8>(priority) < least_priority) return nullptr;
    for (auto* thread : ready_[priority])
      if (may_run(*thread, processor)) return thread;
  }
  return nullptr;
}

// Out of standby or the ready queues.
Thread* Scheduler::take_best(Processor& processor, i8 least_priority) {
  auto* const ready = find_ready(processor, least_priority);
  auto* const next = processor.next;
  if (next != nullptr && next->priority >= least_priority &&
      (ready == nullptr || next->priority >= ready->priority))
    return std::exchange(processor.next, nullptr);
  if (ready == nullptr) return nullptr;
  auto& queue = queue_of(*ready);
  queue.erase(std::find(queue.begin(), queue.end(), ready));
  return ready;
}

bool Scheduler::preempt(Processor& processor) {
  auto& current = *processor.current;
  if (processor.next == nullptr) return false;
  auto& next = *std::exchange(processor.next, nullptr);
  if (current.is_idle()) {
    switch_to(processor, next, ThreadState::running, 0);
    return true;
  }
  if (next.priority <= current.priority) {
    make_ready(next, Place::head, 0);
    return false;
  }
  switch_to(processor, next, ThreadState::ready, wait_reason::preempted);
  make_ready(current, Place::head, 0);
  return true;
}

void Scheduler::switch_away(Processor& processor, ThreadState state, u8 wait_reason) {
  auto* const next = take_best(processor, 0);
  processor.current->state = state;
  switch_to(processor, next == nullptr ? *processor.idle : *next, state, wait_reason);
}

void Scheduler::yield(Processor& processor, u8 wait_reason) {
  auto& current = *processor.current;
  auto* const next = take_best(processor, current.priority);
  if (next == nullptr) return;
  switch_to(processor, *next, ThreadState::ready, wait_reason);
  make_ready(current, Place::tail, 0);
}

void Scheduler::end_quantum(Processor& processor) {
  auto& thread = *processor.current;
  thread.quantum = full_quantum;
  if (thread.priority > thread.base_priority) {
    --thread.priority;
    state_.accounts.priority_changed(state_.now(), thread);
  }
  yield(processor, wait_reason::quantum_end);
}

void Scheduler::switch_to(Processor& processor, Thread& next, ThreadState state, u8 wait_reason) {
  const Moment at{state_.now(), processor.index, *processor.current};
  const ContextSwitch change{next, state, wait_reason};
  state_.tell(&MachineLog::switched, at, change);
  state_.accounts.switched(at, change);
  processor.current = &next;
  processor.since = state_.now();
  next.state = ThreadState::running;
  next.last_processor = processor.index;
}

}  // namespace coldtrace::tracefile::synthesis
