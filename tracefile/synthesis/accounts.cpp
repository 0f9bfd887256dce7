#include "tracefile/synthesis/accounts.hpp"

#include <algorithm>

namespace coldtrace::tracefile::synthesis {

Accounts::Accounts(std::size_t processors) : processor_since_(processors) {
  answers_.processors.resize(processors);
}

void Accounts::process_added(const Process& process) {
  processes_[&process] = answers_.processes.size();
  auto& told = answers_.processes.emplace_back();
  told.id = process.id;
  told.parent = process.parent;
  told.image = process.image;
}

void Accounts::process_created(const Moment& at, const Process& process) {
  process_added(process);
  auto& told = answers_.processes.back();
  told.creator = place(at.thread);
  told.created = at.time;
}

void Accounts::process_ended(const Moment& at) {
  auto& told = answers_.processes[processes_.at(at.thread.process)];
  told.ended = at.time;
  told.exit_status = at.thread.process->exit_status;
}

void Accounts::thread_added(const Thread& thread) {
  places_.resize(std::max(places_.size(), thread.number + 1));
  if (thread.is_idle()) return;
  places_[thread.number] = answers_.threads.size();
  auto& told = answers_.threads.emplace_back();
  states_.emplace_back();
  told.process = processes_.at(thread.process);
  told.id = thread.id;
  told.object = thread.object.address();
  told.start_address = thread.start_address;
}

void Accounts::thread_created(const Moment& at, const Thread& thread) {
  thread_added(thread);
  auto& told = answers_.threads.back();
  told.creator = place(at.thread);
  told.created = at.time;
  told.since = at.time;
  become(at.time, thread, Activity::ready);
  settle_priority(at.time, thread);
}

void Accounts::thread_ended(const Moment& at) {
  auto& thread = told(at.thread);
  thread.ended = at.time;
  thread.exit_status = at.thread.exit_status;
  auto& calls = state(at.thread).calls;
  for (const auto& call : calls) ++services_[call.service].open;
  calls.clear();
}

ScenarioAnswers::Thread& Accounts::told(const Thread& thread) {
  return answers_.threads[place(thread)];
}

Accounts::State& Accounts::state(const Thread& thread) {
  return states_[place(thread)];
}

// The time since the last change was spent as the state says.
void Accounts::settle(u64 time, ScenarioAnswers::Thread& thread, const State& state) {
  const u64 spent = time - state.since;
  if (state.activity == Activity::running) thread.run += spent;
  if (state.activity == Activity::ready) thread.ready += spent;
  if (state.activity != Activity::waiting) return;
  thread.wait += spent;
  auto& wait = thread.waits[state.reason];
  ++wait.count;
  wait.time += spent;
}

void Accounts::become(u64 time, const Thread& thread, Activity activity, u8 reason) {
  auto& now = state(thread);
  settle(time, told(thread), now);
  now.activity = activity;
  now.since = time;
  now.reason = reason;
}

// Since its last switch the processor had this thread.
void Accounts::stay(u64 time, u16 processor, const Thread& thread) {
  auto& told = answers_.processors[processor];
  (thread.is_idle() ? told.idle : told.busy) +=
      time - std::exchange(processor_since_[processor], time);
}

void Accounts::switched(const Moment& at, const ContextSwitch& change) {
  stay(at.time, at.processor, at.thread);
  ++answers_.processors[at.processor].switches;
  if (!at.thread.is_idle())
    become(at.time, at.thread,
           change.state == ThreadState::waiting      ? Activity::waiting
           : change.state == ThreadState::terminated ? Activity::ended
                                                     : Activity::ready,
           change.wait_reason);
  if (change.state == ThreadState::terminated) {
    settle_priority(at.time, at.thread);
    state(at.thread).priority_since.reset();
  }
  if (change.next.is_idle()) return;
  auto& next = told(change.next);
  if (!next.since) {
    next.since = at.time;
    settle_priority(at.time, change.next);
  }
  ++next.switches;
  become(at.time, change.next, Activity::running);
}

void Accounts::readied(u64 time, const Thread& thread, u8 increment) {
  if (told(thread).since) become(time, thread, Activity::ready);
  if (increment == 0) return;
  ++told(thread).boosts;
  told(thread).increments += increment;
}

void Accounts::priority_changed(u64 time, const Thread& thread) {
  if (!state(thread).priority_since) return;
  settle_priority(time, thread);
  ++told(thread).priority_changes;
}

// Until now it had the priority that it had last time.
void Accounts::settle_priority(u64 time, const Thread& thread) {
  auto& now = state(thread);
  if (now.priority_since) told(thread).priorities[now.priority] += time - *now.priority_since;
  now.priority = thread.priority;
  now.priority_since = time;
}

void Accounts::wait_begun(const Moment& at, const Wait& wait) {
  auto& waiter = state(at.thread);
  waiter.wait_begun = at.time;
  for (const auto* object : wait.objects) {
    auto& sum = objects_[{place(at.thread), object->address()}];
    sum.type = static_cast<u8>(object->type());
    ++sum.waits.count;
    waiter.objects.push_back(object->address());
  }
}

void Accounts::end_wait_for_objects(u64 time, std::size_t thread) {
  auto& waiter = states_[thread];
  for (const u64 object : waiter.objects)
    objects_[{thread, object}].waits.time += time - waiter.wait_begun;
  waiter.objects.clear();
}

void Accounts::end_deadlocks(u64 time, std::size_t member) {
  for (auto& deadlock : answers_.deadlocks)
    if (!deadlock.ended &&
        std::binary_search(deadlock.members.begin(), deadlock.members.end(), member))
      deadlock.ended = time;
}

void Accounts::wait_ended(u64 time, const Thread& thread) {
  end_wait_for_objects(time, place(thread));
  end_deadlocks(time, place(thread));
}

u64 Accounts::run_until(u64 time, const Thread& thread) {
  const auto& now = state(thread);
  return told(thread).run + (now.activity == Activity::running ? time - now.since : 0);
}

void Accounts::call_entered(const Moment& at, const Service& service) {
  state(at.thread).calls.push_back(
      {{service.number, service.name_hash}, at.time, run_until(at.time, at.thread), 0});
}

void Accounts::call_returned(const Moment& at) {
  auto& calls = state(at.thread).calls;
  const auto call = calls.back();
  calls.pop_back();
  const u64 inclusive = at.time - call.entered;
  if (!calls.empty()) calls.back().inner += inclusive;
  auto& service = services_[call.service];
  ++service.calls;
  service.exclusive += inclusive - call.inner;
  const auto is_outer = [&](const Call& outer) { return outer.service == call.service; };
  if (std::any_of(calls.begin(), calls.end(), is_outer)) return;
  service.inclusive += inclusive;
  service.on_processor += run_until(at.time, at.thread) - call.run;
}

void Accounts::routine_ended(const Moment& at, const Routine& routine) {
  const u64 inclusive = at.time - routine.begun;
  const u64 exclusive = inclusive - routine.interrupted;
  answers_.processors[at.processor].interrupted += exclusive;
  if (!at.thread.is_idle()) told(at.thread).interrupted += exclusive;
  auto& sum = routines_[{static_cast<u8>(routine.kind), routine.address}];
  ++sum.count;
  sum.inclusive += inclusive;
  sum.exclusive += exclusive;
}

void Accounts::disk_requested(const DiskRequest& request) {
  open_requests_[request.irp] = answers_.disk_requests.size();
  answers_.disk_requests.push_back({place(*request.thread),
                                    request.irp,
                                    request.write,
                                    request.offset,
                                    request.bytes,
                                    request.start,
                                    {}});
}

void Accounts::disk_completed(u64 time, const DiskRequest& request) {
  const auto found = open_requests_.find(request.irp);
  answers_.disk_requests[found->second].end = time;
  open_requests_.erase(found);
}

void Accounts::deadlocked(u64 time, const std::vector<const Thread*>& members,
                          const std::vector<const Thread*>& victims) {
  const auto places = [&](const auto& threads) {
    std::vector<std::size_t> made;
    made.reserve(threads.size());
    for (const auto* thread : threads) made.push_back(place(*thread));
    std::sort(made.begin(), made.end());
    return made;
  };
  auto found = places(members);
  for (auto& deadlock : answers_.deadlocks)
    if (!deadlock.ended && deadlock.members == found) {
      deadlock.victims = places(victims);
      return;
    }
  answers_.deadlocks.push_back({std::move(found), places(victims), time, {}});
}

void Accounts::lost(u16 processor, u64 from, u64 to) {
  answers_.losses.push_back({processor, from, to});
}

ScenarioAnswers Accounts::finish(u64 time, const std::vector<Processor>& processors,
                                 const std::vector<PriorityInversion>& inversions) {
  answers_.elapsed = time;
  for (const auto& processor : processors) stay(time, processor.index, *processor.current);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto& now = states_[i];
    auto& thread = answers_.threads[i];
    settle(time, thread, now);
    end_wait_for_objects(time, i);
    if (now.priority_since) thread.priorities[now.priority] += time - *now.priority_since;
    if (now.activity == Activity::waiting)
      thread.open_wait = ScenarioAnswers::OpenWait{now.reason, now.since};
    for (const auto& call : now.calls) ++services_[call.service].open;
  }
  for (const auto& [key, sum] : objects_)
    answers_.object_waits.push_back({key.first, sum.type, key.second, sum.waits});
  for (const auto& one : inversions) {
    auto& inversion = answers_.inversions.emplace_back();
    inversion.high = place(*one.high);
    inversion.low = place(*one.low);
    for (const auto* owner : one.between) inversion.between.push_back(place(*owner));
    inversion.object = one.object;
    inversion.from = one.from;
    inversion.to = one.to;
    inversion.time = one.time;
    for (const auto& [thread, run] : one.middles) inversion.middles[place(*thread)] = run;
  }
  for (auto& [key, service] : services_) {
    service.number = key.first;
    service.name_hash = key.second;
    answers_.services.push_back(service);
  }
  for (auto& [key, routine] : routines_) {
    routine.kind = key.first;
    routine.address = key.second;
    answers_.routines.push_back(routine);
  }
  return std::move(answers_);
}

}  // namespace coldtrace::tracefile::synthesis
