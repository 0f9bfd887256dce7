#include "tracefile/synthesis/scenario_plays.hpp"

// Scenarios whose point is what a trace file can be like.
namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

constexpr Service nt_query_performance_counter{0xa5};

// Calls much, so that its processor fills its buffers.
Program call_often(Actor self, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    self.enter(nt_query_performance_counter);
    co_await self.compute(2us, 8us);
    self.leave(nt_query_performance_counter);
    co_await self.compute(20us, 80us);
  }
}

Program sleep_often(Actor self, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.compute(50us, 150us);
    co_await self.sleep(1ms);
  }
}

Program run_both(Actor self, u32 rounds) {
  auto& busy = self.start_thread([&](Actor thread) { return call_often(thread, rounds * 10); },
                                 {.affinity = 1});
  auto& lazy = self.start_thread([&](Actor thread) { return sleep_often(thread, rounds); },
                                 {.affinity = 2, .processor = 1});
  co_await self.wait(busy.object);
  co_await self.wait(lazy.object);
}

// --- ids that are used again

Program help(Actor self) {
  co_await self.compute(50us, 150us);
  self.exit_with(static_cast<u32>(self.random(3)));
}

Program do_job(Actor self) {
  auto& helper = self.start_thread([](Actor thread) { return help(thread); });
  co_await self.compute(100us, 300us);
  co_await self.wait(helper.object);
}

// The next process has the ids that the last one left, and sometimes one id becomes a thread's that
// was a process's.
Program launch_jobs(Actor self, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    auto& job = self.start_process({"job.exe", "job.exe " + std::to_string(round)},
                                   [](Actor main) { return do_job(main); });
    co_await self.wait(job.process->object);
    auto& helper = self.start_thread([](Actor thread) { return help(thread); });
    co_await self.wait(helper.object);
  }
}

}  // namespace

void play_wrapped(Machine& machine, u32 rounds) {
  start_from_shell(machine, {"wrapped.exe", "wrapped.exe", 5200},
                   [&](Actor main) { return run_both(main, rounds); });
  machine.run();
}

void play_losses(Machine& machine, u32 rounds) {
  machine.lose_buffers(0, ticks_of(5ms), ticks_of(8ms));
  machine.lose_buffers(1, ticks_of(12ms), ticks_of(17ms));
  start_from_shell(machine, {"losses.exe", "losses.exe", 5400},
                   [&](Actor main) { return run_both(main, rounds); });
  machine.run();
}

void play_id_reuse(Machine& machine, u32 rounds) {
  start_from_shell(machine, {"launcher.exe", "launcher.exe", 5600},
                   [&](Actor main) { return launch_jobs(main, rounds); });
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
