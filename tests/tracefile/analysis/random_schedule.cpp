#include "tests/tracefile/analysis/random_schedule.hpp"

#include <random>

namespace coldtrace::fixtures {
namespace {

constexpr u8 state_ready = 1;
constexpr u8 state_running = 2;
constexpr u8 state_waiting = 5;

struct Thread {
  enum class State : u8 { waits, ready, runs } state = State::waits;
  std::optional<i64> left;     // in the trace
  std::optional<i64> readied;  // by an event
  bool preempted = false;
  u8 reason = 0;
};

}  // namespace

RandomSchedule::RandomSchedule(u64 seed, unsigned length) {
  std::mt19937_64 random{seed};
  std::array<Thread, threads + 1> all;
  std::array<u32, processors> current{};
  std::array<std::optional<i64>, processors> since;
  i64 time = 1'000'000;
  while (steps.size() < length) {
    time += 1 + static_cast<i64>(random() % 40);
    const auto cpu = static_cast<u16>(random() % processors);
    const auto chosen = 1 + static_cast<u32>(random() % threads);
    auto& thread = all[chosen];
    const auto old_number = current[cpu];
    if (random() % 2 == 0) {
      if (thread.state != Thread::State::waits) continue;
      thread.state = Thread::State::ready;
      thread.readied = time;
      steps.push_back({time, cpu, false, 0, 0, 0, 0, chosen * 4, old_number * 4});
      continue;
    }
    const bool to_idle = random() % 4 == 0;
    if (to_idle ? old_number == 0 : thread.state != Thread::State::ready) continue;
    const u32 new_number = to_idle ? 0 : chosen;
    auto& old = all[old_number];
    const bool waits = old_number != 0 && (to_idle || random() % 2 == 0);
    const auto reason = static_cast<u8>(random() % reasons);
    steps.push_back({time, cpu, true, old_number * 4, new_number * 4,
                     old_number == 0 ? state_running
                     : waits         ? state_waiting
                                     : state_ready,
                     reason, 0, 0});
    if (since[cpu]) {
      (old_number == 0 ? idle : busy)[cpu] += time - *since[cpu];
      times[old_number].running += time - *since[cpu];
    }
    if (old_number != 0)
      old = {waits ? Thread::State::waits : Thread::State::ready, time, std::nullopt, !waits,
             reason};
    if (new_number != 0) {
      auto& sums = times[new_number];
      if (thread.preempted) {
        sums.ready += time - *thread.left;
      } else if (thread.readied) {
        sums.ready += time - *thread.readied;
        if (thread.left) {
          sums.waiting += *thread.readied - *thread.left;
          ++sums.waits[thread.reason];
        }
      }
      thread = {Thread::State::runs, std::nullopt, std::nullopt, false, 0};
    }
    current[cpu] = new_number;
    since[cpu] = time;
  }
}

}  // namespace coldtrace::fixtures
