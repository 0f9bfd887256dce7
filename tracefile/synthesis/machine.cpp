#include "tracefile/synthesis/machine.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

constexpr u64 first_address = 0xffff'fa80'0100'0000;
constexpr u64 object_size = 0x1000;
constexpr u8 no_increment = 0;

constexpr std::chrono::microseconds device_interrupt_time{5};
constexpr std::chrono::microseconds device_call_time{10};
constexpr std::chrono::milliseconds quiet_end{1};

}  // namespace

Machine::Machine(const MachineOptions& options, std::vector<MachineLog*> logs)
    : options_{options},
      state_{options.processors, options.seed, std::move(logs)},
      next_id_{options.first_id},
      next_address_{first_address} {
  state_.look = [this](Processor& processor) { look(processor); };
  auto& idle = state_.processes.emplace_back(
      Process{0, 0, "Idle", "", {ObjectType::process, next_address(), 0}});
  for (auto& processor : state_.processors) {
    processor.index = static_cast<u16>(&processor - state_.processors.data());
    auto& thread = state_.threads.emplace_back(idle, 0, next_address());
    thread.number = state_.threads.size() - 1;
    thread.priority = thread.base_priority = 0;
    thread.state = ThreadState::running;
    thread.last_processor = processor.index;
    state_.accounts.thread_added(thread);
    processor.idle = processor.current = &thread;
  }
  state_.here = &state_.processors.front();
}

u64 Machine::next_address() {
  return std::exchange(next_address_, next_address_ + object_size);
}

// Processes and threads have their ids from one table.
u32 Machine::next_id() {
  if (free_ids_.empty()) return std::exchange(next_id_, next_id_ + 4);
  const u32 id = free_ids_.back();
  free_ids_.pop_back();
  return id;
}

Process& Machine::make_process(const ProcessOptions& options, u32 parent) {
  return state_.processes.emplace_back(Process{options.id == 0 ? next_id() : options.id,
                                               parent,
                                               options.image,
                                               options.command_line,
                                               {ObjectType::process, next_address(), 0}});
}

Thread& Machine::make_thread(Process& process, const ThreadOptions& options) {
  const u32 id = options.id == 0 ? next_id() : options.id;
  auto& thread = state_.threads.emplace_back(process, id, next_address());
  thread.number = state_.threads.size() - 1;
  thread.start_address = options.start_address == 0
                             ? 0x7ff6'0000'1000 + state_.random.below(0x100) * 16
                             : options.start_address;
  thread.priority = thread.base_priority = options.priority;
  thread.affinity = options.affinity;
  thread.last_processor = options.processor;
  thread.quantum = Scheduler::full_quantum;
  ++process.threads;
  return thread;
}

Process& Machine::add_process(const ProcessOptions& options, u32 parent) {
  auto& process = make_process(options, parent);
  state_.accounts.process_added(process);
  state_.tell(&MachineLog::process_listed, state_.moment(), process);
  return process;
}

Thread& Machine::add_thread(Process& process, const ThreadOptions& options) {
  auto& thread = make_thread(process, options);
  state_.accounts.thread_added(thread);
  state_.tell(&MachineLog::thread_listed, state_.moment(), thread);
  return thread;
}

DispatcherObject& Machine::add_object(ObjectType type, i64 state, i64 limit) {
  auto& object = objects_.emplace_back(type, next_address(), state, limit);
  if (type == ObjectType::mutant) state_.inversions.add(object);
  return object;
}

void Machine::start(Thread& thread, Program program) {
  thread.program = std::move(program);
  thread.resume_at = thread.program.start();
  scheduler_.make_ready(thread);
}

void Machine::run() {
  look(*state_.here);  // for which the set-up found a thread
  while (state_.events.step()) state_.inversions.look(now());
  state_.events.pass(ticks_of(quiet_end));
}

ScenarioAnswers Machine::finish() {
  state_.tell(&MachineLog::end, state_.now());
  state_.inversions.look(now());
  return state_.accounts.finish(now(), state_.processors, state_.inversions.found());
}

void Machine::look(Processor& processor) {
  if (!processor.routines.empty()) return;  // they end first
  state_.here = &processor;
  processor.settle(state_.now());
  go_on(processor);
}

void Machine::go_on(Processor& processor) {
  while (advance(processor)) {
  }
  clock_.follow(processor);
}

// What happens next on the processor without any time passing; false when there is nothing.
bool Machine::advance(Processor& processor) {
  auto& thread = *processor.current;
  if (!thread.is_idle() && thread.quantum == 0) {
    scheduler_.end_quantum(processor);
    return true;
  }
  if (scheduler_.preempt(processor) || take_request(processor)) return true;
  if (thread.is_idle()) return false;
  if (thread.remaining > 0) {
    compute(processor);
    return false;
  }
  step(processor);
  return true;
}

void Machine::compute(Processor& processor) {
  processor.since = state_.now();
  state_.events.at(state_.now() + processor.current->remaining, processor.version,
                   [this, &processor] { look(processor); });
}

// A thread asks for what takes the processor from it.
bool Machine::take_request(Processor& processor) {
  auto& thread = *processor.current;
  if (thread.remaining > 0) return false;
  switch (thread.request) {
    case Thread::Request::none:
      return false;
    case Thread::Request::wait:
      waits_.begin(processor);
      return true;
    case Thread::Request::yield:
      thread.request = Thread::Request::none;
      scheduler_.yield(processor, wait_reason::yield_execution);
      return true;
  }
  return false;
}

void Machine::step(Processor& processor) {
  auto& thread = *processor.current;
  if (thread.program.done()) return end_thread(processor);
  if (std::exchange(thread.wait_ended, false))
    state_.tell(&MachineLog::wait_ended, state_.moment(), thread.wait_status);
  thread.resume_at.resume();
  const u64 most = ticks_of(options_.code_time);
  thread.remaining += most - state_.random.below(most / 2 + 1);
}

void Machine::end_thread(Processor& processor) {
  auto& thread = *processor.current;
  abandon_mutants(thread);
  state_.tell(&MachineLog::thread_ended, state_.moment());
  state_.accounts.thread_ended(state_.moment());
  thread.object.set();
  waits_.signaled(thread.object, no_increment);
  if (--thread.process->threads == 0) end_process(*thread.process);
  thread.program = {};
  if (options_.reuses_ids) free_ids_.push_back(thread.id);
  scheduler_.switch_away(processor, ThreadState::terminated, 0);
}

void Machine::end_process(Process& process) {
  process.exit_status = state_.here->current->exit_status;  // that of its last thread
  state_.tell(&MachineLog::process_ended, state_.moment());
  state_.accounts.process_ended(state_.moment());
  process.object.set();
  waits_.signaled(process.object, no_increment);
  if (options_.reuses_ids) free_ids_.push_back(process.id);
}

void Machine::abandon_mutants(Thread& thread) {
  for (auto* mutant : std::exchange(thread.owned, {})) {
    mutant->abandon();
    waits_.signaled(*mutant, no_increment);
  }
}

Process& Machine::create_process(const ProcessOptions& options) {
  const auto at = state_.moment();
  auto& process = make_process(options, at.thread.process->id);
  state_.tell(&MachineLog::process_created, at, process);
  state_.accounts.process_created(at, process);
  return process;
}

Thread& Machine::create_thread(Process& process, const ThreadOptions& options) {
  const auto at = state_.moment();
  auto& thread = make_thread(process, options);
  state_.tell(&MachineLog::thread_created, at, thread);
  state_.accounts.thread_created(at, thread);
  state_.tell(&MachineLog::readied, at, Readied{thread, no_increment, false});
  return thread;
}

bool Machine::release(DispatcherObject& object, i64 count, u8 increment) {
  auto& thread = *state_.here->current;
  if (!object.release(thread, count)) return false;
  if (object.type() == ObjectType::mutant && object.owner() == nullptr)
    thread.owned.erase(std::remove(thread.owned.begin(), thread.owned.end(), &object),
                       thread.owned.end());
  waits_.signaled(object, increment);
  return true;
}

void Machine::set(DispatcherObject& event, u8 increment) {
  event.set();
  waits_.signaled(event, increment);
}

void Machine::set_timer(DispatcherObject& timer, Duration due) {
  timer.reset();
  clock_.arm(now() + ticks_of(due), [this, &timer] { set(timer, no_increment); });
}

void Machine::enter(const Service& service, std::span<const u64> arguments) {
  state_.tell(&MachineLog::call_entered, state_.moment(), service, arguments);
  state_.accounts.call_entered(state_.moment(), service);
}

void Machine::leave(const Service& service, u64 status) {
  state_.tell(&MachineLog::call_returned, state_.moment(), service, status);
  state_.accounts.call_returned(state_.moment());
}

void Machine::request(DispatcherObject& done, bool write, u64 offset, u32 bytes) {
  disk_.start(done, write, offset, bytes);
}

void Machine::plan_interrupt(u64 time, u64 address, u8 vector, std::function<void()> call) {
  state_.events.at(time, [this, address, vector, call = std::move(call)] {
    interrupts_.raise(
        state_.processors.front(), address, vector, device_interrupt_time, [this, address, call] {
          interrupts_.queue(RoutineKind::deferred, address + 0x1000, device_call_time, call);
        });
  });
}

void Machine::lose_buffers(u16 processor, u64 from, u64 to) {
  state_.accounts.lost(processor, from, to);
  state_.events.at(
      from, [this, from, processor] { state_.tell(&MachineLog::loss_begins, from, processor); });
  state_.events.at(to,
                   [this, to, processor] { state_.tell(&MachineLog::loss_ends, to, processor); });
}

}  // namespace coldtrace::tracefile::synthesis
