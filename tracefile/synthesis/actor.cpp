#include "tracefile/synthesis/actor.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

// Of the DDK: EVENT_INCREMENT, MUTANT_INCREMENT and SEMAPHORE_INCREMENT.
constexpr u8 object_increment = 1;

}  // namespace

Actor::Pause Actor::compute(Duration duration) const {
  thread_->remaining = ticks_of(duration);
  return Pause{*thread_};
}

Actor::Pause Actor::compute(Duration least, Duration most) const {
  thread_->remaining = ticks_of(least) + random(ticks_of(most - least) + 1);
  return Pause{*thread_};
}

Actor::Pause Actor::yield() const {
  thread_->request = Thread::Request::yield;
  return Pause{*thread_};
}

Actor::Pause Actor::sleep(Duration duration) const {
  return wait({{}, WaitType::any, wait_reason::delay_execution, ticks_of(duration), 0});
}

Actor::Pause Actor::sleep_until(Duration since_start) const {
  const auto now = Duration{static_cast<i64>(machine_->now())};
  return sleep(std::max(since_start - now, Duration{1}));
}

Actor::Pause Actor::wait(Wait wait) const {
  thread_->request = Thread::Request::wait;
  thread_->wait = std::move(wait);
  return Pause{*thread_};
}

Actor::Pause Actor::wait(DispatcherObject& object, u8 reason) const {
  return wait({{&object}, WaitType::any, reason, {}, 0});
}

Actor::Pause Actor::wait_within(DispatcherObject& object, Duration timeout) const {
  return wait({{&object}, WaitType::any, wait_reason::user_request, ticks_of(timeout), 0});
}

void Actor::release(DispatcherObject& object, i64 count) const {
  machine_->release(object, count, object_increment);
}

void Actor::set(DispatcherObject& event) const {
  machine_->set(event, object_increment);
}

Thread& Actor::start_thread(const Body& body, const ThreadOptions& options) const {
  auto& made = machine_->create_thread(*thread_->process, options);
  machine_->start(made, body({*machine_, made}));
  return made;
}

Thread& Actor::start_process(const ProcessOptions& process, const Body& body,
                             const ThreadOptions& options) const {
  auto& made = machine_->create_thread(machine_->create_process(process), options);
  machine_->start(made, body({*machine_, made}));
  return made;
}

void Actor::enter(const Service& service, std::initializer_list<u64> arguments) const {
  machine_->enter(service, {arguments.begin(), arguments.size()});
}

void Actor::leave(const Service& service, u64 status) const {
  machine_->leave(service, status);
}

void Actor::read(DispatcherObject& done, u64 offset, u32 bytes) const {
  machine_->request(done, false, offset, bytes);
}

void Actor::write(DispatcherObject& done, u64 offset, u32 bytes) const {
  machine_->request(done, true, offset, bytes);
}

void Actor::fault(const PageFault& fault) const {
  auto& state = machine_->state();
  state.tell(&MachineLog::page_fault, state.moment(), fault);
}

void Actor::send(const Message& message) const {
  auto& state = machine_->state();
  state.tell(&MachineLog::message_sent, state.moment(), message);
}

Thread& add_thread(Machine& machine, Process& process, const Actor::Body& body,
                   const ThreadOptions& options) {
  auto& made = machine.add_thread(process, options);
  machine.start(made, body({machine, made}));
  return made;
}

}  // namespace coldtrace::tracefile::synthesis
