#include "tracefile/synthesis/clock.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

constexpr std::chrono::microseconds interrupt_time{2};
constexpr std::chrono::microseconds expiration_time{3};
constexpr u64 clock_routine = 0xffff'f800'0100'2000;
constexpr u64 expiration_routine = 0xffff'f800'0100'3000;
constexpr u8 clock_vector = 0xd1;

// The interrupts of the processors do not come all at the same time.
u64 next_interrupt(u64 time, const Processor& processor) {
  const u64 interval = ticks_of(Clock::interval);
  const u64 phase = interval / 8 * processor.index;
  return time <= phase ? phase : (time - phase + interval - 1) / interval * interval + phase;
}

}  // namespace

void Clock::arm(u64 due, const u64& version, std::function<void()> expire) {
  timers_.insert({due, {&version, version, std::move(expire)}});
  follow(state_.processors.front());
}

void Clock::forget_cancelled() {
  while (!timers_.empty() && !timers_.begin()->second.is_valid()) timers_.erase(timers_.begin());
}

void Clock::follow(Processor& processor) {
  // One that comes at this very time is still to come.
  const u64 now = state_.now();
  const u64 from = processor.clock_due != 0 && processor.clock_due == now ? now : now + 1;
  u64 due = 0;
  if (!processor.current->is_idle()) due = next_interrupt(from, processor);
  if (processor.index == 0) {
    forget_cancelled();
    if (!timers_.empty()) {
      const u64 needed = next_interrupt(std::max(timers_.begin()->first, from), processor);
      due = due == 0 ? needed : std::min(due, needed);
    }
  }
  if (due == processor.clock_due) return;
  processor.clock_due = due;
  ++processor.clock_version;
  if (due != 0)
    state_.events.at(due, processor.clock_version, [this, &processor] { tick(processor); });
}

void Clock::tick(Processor& processor) {
  processor.clock_due = 0;
  interrupts_.raise(processor, clock_routine, clock_vector, interrupt_time, [this, &processor] {
    auto& thread = *processor.current;
    if (thread.quantum > 0) --thread.quantum;
    forget_cancelled();
    if (processor.index == 0 && !timers_.empty() && timers_.begin()->first <= state_.now())
      interrupts_.queue(RoutineKind::timer, expiration_routine, expiration_time,
                        [this] { expire_timers(); });
  });
}

void Clock::expire_timers() {
  while (!timers_.empty() && timers_.begin()->first <= state_.now()) {
    const auto timer = std::move(timers_.extract(timers_.begin()).mapped());
    if (timer.is_valid()) timer.expire();
  }
}

}  // namespace coldtrace::tracefile::synthesis
