#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

// --- priority inversion

// Timers expire up to a millisecond late: what shall come later is due more than that later.
constexpr Duration round_time = 50ms;

Program hold_at_low(Actor self, DispatcherObject& lock, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time);
    co_await self.wait(lock);
    co_await self.compute(6ms, 8ms);
    self.release(lock);
  }
}

// One for each processor: the thread that holds the lock gets none.
Program run_at_middle(Actor self, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time + 4ms);
    co_await self.compute(12ms, 18ms);
  }
}

Program want_at_high(Actor self, DispatcherObject& lock, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time + 2ms);
    co_await self.wait(lock);
    co_await self.compute(200us);
    self.release(lock);
  }
}

Program invert(Actor self, DispatcherObject& lock, u32 rounds) {
  auto& low = self.start_thread([&](Actor thread) { return hold_at_low(thread, lock, rounds); },
                                {.priority = 6});
  for (int i = 0; i < 2; ++i)
    self.start_thread([&](Actor thread) { return run_at_middle(thread, rounds); }, {.priority = 8});
  auto& high = self.start_thread([&](Actor thread) { return want_at_high(thread, lock, rounds); },
                                 {.priority = 12});
  co_await self.wait(low.object);
  co_await self.wait(high.object);
}

// --- the same, but the owner waits for another one, which gets no processor

Program hold_first(Actor self, DispatcherObject& first, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time);
    co_await self.wait(first);
    co_await self.compute(9ms, 11ms);
    self.release(first);
  }
}

Program hold_second(Actor self, DispatcherObject& first, DispatcherObject& second, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time + 2ms);
    co_await self.wait(second);
    co_await self.wait(first);
    co_await self.compute(200us);
    self.release(first);
    self.release(second);
  }
}

Program want_second(Actor self, DispatcherObject& second, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time + 4ms);
    co_await self.wait(second);
    co_await self.compute(200us);
    self.release(second);
  }
}

Program run_later_at_middle(Actor self, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.sleep_until(round * round_time + 6ms);
    co_await self.compute(12ms, 18ms);
  }
}

Program invert_in_chain(Actor self, DispatcherObject& first, DispatcherObject& second, u32 rounds) {
  std::vector<Thread*> threads;
  threads.push_back(&self.start_thread(
      [&](Actor thread) { return hold_first(thread, first, rounds); }, {.priority = 6}));
  for (int i = 0; i < 2; ++i)
    self.start_thread([&](Actor thread) { return run_later_at_middle(thread, rounds); },
                      {.priority = 8});
  threads.push_back(&self.start_thread(
      [&](Actor thread) { return hold_second(thread, first, second, rounds); }, {.priority = 10}));
  threads.push_back(&self.start_thread(
      [&](Actor thread) { return want_second(thread, second, rounds); }, {.priority = 12}));
  for (auto* thread : threads) co_await self.wait(thread->object);
}

// --- a convoy: the lock is handed to who waits first, so that all who need it queue up

Program join_convoy(Actor self, DispatcherObject& lock, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.compute(20us, 60us);
    co_await self.wait(lock);
    co_await self.compute(15us, 40us);
    // Now and then the quantum ends in here.
    if (self.random(8) == 0) co_await self.compute(1ms, 4ms);
    self.release(lock);
  }
}

Program lead_convoy(Actor self, DispatcherObject& lock, u32 rounds) {
  std::vector<Thread*> threads;
  for (int i = 0; i < 6; ++i)
    threads.push_back(
        &self.start_thread([&](Actor thread) { return join_convoy(thread, lock, rounds); }));
  for (auto* thread : threads) co_await self.wait(thread->object);
}

// --- a thread that is pushed from one processor to the other

constexpr Duration visit_time = 4ms;

Program roam(Actor self, u32 rounds) {
  co_await self.compute(rounds * visit_time);
}

// Takes its processor every other time.
Program visit(Actor self, u32 first, u32 rounds) {
  for (u32 round = first; round < rounds; round += 2) {
    co_await self.sleep_until(round * visit_time + 1ms);
    co_await self.compute(1ms);
  }
}

Program push_around(Actor self, u32 rounds) {
  auto& roaming = self.start_thread([&](Actor thread) { return roam(thread, rounds); });
  for (u16 processor = 0; processor < 2; ++processor)
    self.start_thread([&](Actor thread) { return visit(thread, processor, rounds); },
                      {.priority = 13, .affinity = u64{1} << processor, .processor = processor});
  co_await self.wait(roaming.object);
}

}  // namespace

void play_priority_inversion(Machine& machine, u32 rounds) {
  auto& lock = machine.add_mutant();
  start_from_shell(machine, {"inversion.exe", "inversion.exe", 2800},
                   [&](Actor main) { return invert(main, lock, rounds); });
  machine.run();
}

void play_inversion_chain(Machine& machine, u32 rounds) {
  auto& first = machine.add_mutant();
  auto& second = machine.add_mutant();
  start_from_shell(machine, {"chain.exe", "chain.exe", 4400},
                   [&](Actor main) { return invert_in_chain(main, first, second, rounds); });
  machine.run();
}

void play_lock_convoy(Machine& machine, u32 rounds) {
  auto& lock = machine.add_mutant();
  start_from_shell(machine, {"convoy.exe", "convoy.exe", 3200},
                   [&](Actor main) { return lead_convoy(main, lock, rounds); });
  machine.run();
}

void play_migration(Machine& machine, u32 rounds) {
  start_from_shell(machine, {"migration.exe", "migration.exe", 3600},
                   [&](Actor main) { return push_around(main, rounds); });
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
