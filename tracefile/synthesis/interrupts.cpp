#include "tracefile/synthesis/interrupts.hpp"

namespace coldtrace::tracefile::synthesis {

void Interrupts::raise(Processor& processor, u64 address, u8 vector, Duration duration,
                       std::function<void()> body) {
  Routine routine{RoutineKind::interrupt, address, ticks_of(duration), std::move(body), vector};
  if (!processor.routines.empty() && processor.routines.back().kind == RoutineKind::interrupt)
    processor.interrupts_pending.push_back(std::move(routine));
  else
    start(processor, std::move(routine));
}

void Interrupts::queue(RoutineKind kind, u64 address, Duration duration,
                       std::function<void()> body) {
  state_.here->calls_pending.push_back({kind, address, ticks_of(duration), std::move(body)});
}

void Interrupts::start(Processor& processor, Routine routine) {
  processor.settle(state_.now());
  routine.begun = state_.now();
  processor.routines.push_back(std::move(routine));
  go_on(processor);
}

void Interrupts::go_on(Processor& processor) {
  processor.since = state_.now();
  state_.events.at(state_.now() + processor.routines.back().remaining, processor.version,
                   [this, &processor] { finish(processor); });
}

void Interrupts::finish(Processor& processor) {
  state_.here = &processor;
  processor.settle(state_.now());
  processor.routines.back().body();
  const auto routine = std::move(processor.routines.back());
  processor.routines.pop_back();
  const auto at = state_.moment();
  state_.tell(&MachineLog::routine_ended, at, routine);
  state_.accounts.routine_ended(at, routine);
  if (!processor.routines.empty())
    processor.routines.back().interrupted += state_.now() - routine.begun;
  next(processor);
}

void Interrupts::next(Processor& processor) {
  const auto take_first = [](auto& pending) {
    auto first = std::move(pending.front());
    pending.pop_front();
    return first;
  };
  if (!processor.interrupts_pending.empty())
    start(processor, take_first(processor.interrupts_pending));
  else if (!processor.routines.empty())
    go_on(processor);
  else if (!processor.calls_pending.empty())
    start(processor, take_first(processor.calls_pending));
  else
    state_.look(processor);
}

}  // namespace coldtrace::tracefile::synthesis
