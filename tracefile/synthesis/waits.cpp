#include "tracefile/synthesis/waits.hpp"

#include "tracefile/synthesis/wait_graph.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

void own_mutants(Thread& thread) {
  for (auto* object : thread.wait.objects)
    if (object->owner() == &thread &&
        std::find(thread.owned.begin(), thread.owned.end(), object) == thread.owned.end())
      thread.owned.push_back(object);
}

}  // namespace

void Waits::begin(Processor& processor) {
  auto& thread = *processor.current;
  thread.request = Thread::Request::none;
  thread.wait.begun = state_.now();
  ++thread.wait_version;
  const auto at = state_.moment();
  state_.tell(&MachineLog::wait_begun, at, thread.wait);
  state_.accounts.wait_begun(at, thread.wait);
  if (end_at_once(thread)) return;
  for (auto* object : thread.wait.objects) object->waiters.push_back(&thread);
  if (thread.wait.timeout)
    clock_.arm(state_.now() + *thread.wait.timeout, thread.wait_version,
               [this, &thread] { time_out(thread); });
  scheduler_.switch_away(processor, ThreadState::waiting, thread.wait.reason);
  look_for_knots(thread);
}

bool Waits::end_at_once(Thread& thread) {
  const auto index = find_satisfied(thread.wait, thread);
  if (!index && thread.wait.timeout != u64{0}) return false;
  thread.wait_status = index ? take_objects(thread.wait, *index, thread) : status_timeout;
  own_mutants(thread);
  tell_satisfied(thread, thread.wait_status);
  state_.accounts.wait_ended(state_.now(), thread);
  thread.wait_ended = true;
  return true;
}

// A wait for all is satisfied by each of its objects, a wait for any by one.
void Waits::tell_satisfied(const Thread& thread, u32 status) {
  const auto& [objects, type, reason, timeout, begun] = thread.wait;
  const u32 index = status & 0x3f;
  for (u32 i = 0; i < objects.size(); ++i)
    if (type == WaitType::all || status == status_timeout || i == index)
      state_.tell(&MachineLog::wait_satisfied, state_.moment(), thread, *objects[i],
                  status == status_timeout ? status : status & ~index);
}

void Waits::signaled(DispatcherObject& object, u8 increment) {
  const auto waiters = object.waiters;
  for (auto* thread : waiters)
    if (const auto index = find_satisfied(thread->wait, *thread)) {
      const u32 status = take_objects(thread->wait, *index, *thread);
      own_mutants(*thread);
      ready(*thread, status, increment);
    }
}

void Waits::time_out(Thread& thread) {
  ready(thread, status_timeout, 0);
}

void Waits::ready(Thread& thread, u32 status, u8 increment) {
  for (auto* object : thread.wait.objects) {
    auto& waiters = object->waiters;
    waiters.erase(std::remove(waiters.begin(), waiters.end(), &thread), waiters.end());
  }
  ++thread.wait_version;
  thread.wait_status = status;
  thread.wait_ended = true;
  tell_satisfied(thread, status);
  state_.accounts.wait_ended(state_.now(), thread);
  scheduler_.boost(thread, increment);
  thread.quantum = Scheduler::full_quantum;
  state_.tell(&MachineLog::readied, state_.moment(),
              Readied{thread, increment, state_.here->in_deferred_call()});
  state_.accounts.readied(state_.now(), thread, increment);
  scheduler_.make_ready(thread);
}

void Waits::look_for_knots(const Thread& thread) {
  const auto can_lock = [](const auto* object) {
    return object->type() == ObjectType::thread || object->type() == ObjectType::mutant;
  };
  const auto& objects = thread.wait.objects;
  if (std::none_of(objects.begin(), objects.end(), can_lock)) return;
  for (const auto& knot : find_knots(state_.threads))
    state_.accounts.deadlocked(state_.now(), knot.members, knot.victims);
}

}  // namespace coldtrace::tracefile::synthesis
