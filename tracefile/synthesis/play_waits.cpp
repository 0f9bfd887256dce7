#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

// --- producer and consumer, of whose waits the paper on the Windows Monitoring Kernel has a figure

// The server of all consoles. A call of it is a local procedure call: the server waits for its
// port's semaphore, and a client for that of its own thread.
struct Console {
  DispatcherObject& port;
  std::deque<DispatcherObject*> clients;
};

Program serve(Actor self, Console& console) {
  for (;;) {
    co_await self.wait(console.port, wait_reason::lpc_receive);
    auto& client = *console.clients.front();
    console.clients.pop_front();
    co_await self.compute(20us, 60us);
    self.release(client);
  }
}

Program print(Actor self, Console& console, DispatcherObject& reply) {
  console.clients.push_back(&reply);
  self.release(console.port);
  co_await self.wait(reply, wait_reason::lpc_reply);
}

struct Store {
  DispatcherObject& lock;
  Console& console;
  u32 goods = 0;
};

Program produce(Actor self, Store& store, DispatcherObject& reply, u32 rounds) {
  for (u32 made = 0; made < rounds; ++made) {
    co_await self.compute(50us, 250us);
    co_await self.wait(store.lock);
    co_await self.compute(5us, 15us);
    ++store.goods;
    self.release(store.lock);
    co_await print(self, store.console, reply);
  }
}

Program consume(Actor self, Store& store, DispatcherObject& reply, u32 rounds) {
  for (u32 taken = 0; taken < rounds;) {
    co_await self.wait(store.lock);
    co_await self.compute(5us, 15us);
    const bool found = store.goods > 0;
    if (found) --store.goods;
    self.release(store.lock);
    if (!found) {
      co_await self.sleep(1ms);
      continue;
    }
    ++taken;
    co_await print(self, store.console, reply);
    co_await self.compute(50us, 150us);
  }
}

Program supervise(Actor self, Store& store, u32 rounds) {
  auto& producer_reply = self.machine().add_semaphore(0);
  auto& consumer_reply = self.machine().add_semaphore(0);
  auto& producer = self.start_thread(
      [&](Actor thread) { return produce(thread, store, producer_reply, rounds); });
  auto& consumer = self.start_thread(
      [&](Actor thread) { return consume(thread, store, consumer_reply, rounds); });
  co_await self.wait(producer.object);
  co_await self.wait(consumer.object);
}

// --- philosophers

struct Table {
  std::vector<DispatcherObject*> forks;
  DispatcherObject& seats;  // one fewer than forks: while everybody asks for a seat, nobody starves
  DispatcherObject& all_have_eaten;
  std::size_t eating;
};

Program take_forks(Actor self, DispatcherObject& left, DispatcherObject& right, Duration pause) {
  co_await self.wait(left);
  co_await self.sleep(pause);
  co_await self.wait(right);
}

Program dine(Actor self, Table& table, std::size_t place, u32 rounds) {
  auto& left = *table.forks[place];
  auto& right = *table.forks[(place + 1) % table.forks.size()];
  for (u32 round = 0; round < rounds; ++round) {
    co_await self.compute(50us, 150us);
    co_await self.wait(table.seats);
    co_await self.wait(left);
    co_await self.compute(10us, 50us);
    co_await self.wait(right);
    co_await self.compute(50us, 150us);
    self.release(right);
    self.release(left);
    self.release(table.seats);
  }
  if (--table.eating == 0) self.set(table.all_have_eaten);
  co_await self.wait(table.all_have_eaten);
  co_await take_forks(self, left, right, 10ms);  // and nobody asks for a seat
}

Program invite(Actor self, Table& table, u32 rounds) {
  std::vector<Thread*> guests;
  for (std::size_t place = 0; place < table.forks.size(); ++place)
    guests.push_back(
        &self.start_thread([&](Actor thread) { return dine(thread, table, place, rounds); }));
  for (auto* guest : guests) co_await self.wait(guest->object);
}

void play_deadlock(Machine& machine, std::size_t count, u32 rounds) {
  std::vector<DispatcherObject*> forks;
  for (std::size_t i = 0; i < count; ++i) forks.push_back(&machine.add_mutant());
  Table table{forks, machine.add_semaphore(static_cast<i64>(count) - 1),
              machine.add_object(ObjectType::notification_event, 0), count};
  start_from_shell(machine, {"philosophers.exe", "philosophers.exe", 3000},
                   [&](Actor main) { return invite(main, table, rounds); });
  machine.run();
}

// --- waits for any of several objects

// Holds `held` while it waits for one of the others. It is not a deadlock while the holder of one
// can go on.
Program want_either(Actor self, DispatcherObject& held, DispatcherObject& first,
                    DispatcherObject& second) {
  co_await self.wait(held);
  co_await self.sleep(2ms);
  const u32 taken = co_await self.wait_any(first, second);
  co_await self.compute(100us);
  self.release(taken == 0 ? first : second);
  self.release(held);
}

Program want_both(Actor self, DispatcherObject& held, DispatcherObject& wanted) {
  co_await self.wait(held);
  co_await self.sleep(4ms);
  co_await self.wait(wanted);
  co_await self.compute(100us);
  self.release(wanted);
  self.release(held);
}

Program hold(Actor self, DispatcherObject& held) {
  co_await self.wait(held);
  co_await self.compute(8ms);
  self.release(held);
}

Program try_any_waits(Actor self, u32 rounds) {
  auto& a = self.machine().add_mutant();
  auto& b = self.machine().add_mutant();
  auto& c = self.machine().add_mutant();
  const auto first = [&](Actor thread) { return want_either(thread, a, b, c); };
  const auto second = [&](Actor thread) { return want_both(thread, b, a); };
  // A cycle of the first two, from which the third one's mutant leads out.
  for (u32 round = 0; round < rounds; ++round) {
    auto& one = self.start_thread(first);
    auto& two = self.start_thread(second);
    auto& three = self.start_thread([&](Actor thread) { return hold(thread, c); });
    co_await self.wait_all(one.object, two.object, three.object);
  }
  // A knot: nobody is left who could end one of the two waits for any.
  auto& one = self.start_thread(first);
  auto& two = self.start_thread(second);
  auto& three = self.start_thread([&](Actor thread) { return want_both(thread, c, a); });
  co_await self.wait_any(one.object, two.object, three.object);
}

}  // namespace

void play_producer_consumer(Machine& machine, u32 rounds) {
  auto& csrss = machine.add_process({"csrss.exe", "csrss.exe", 400});
  Console console{machine.add_semaphore(0), {}};
  Store store{machine.add_mutant(), console};
  add_thread(machine, csrss, [&](Actor thread) { return serve(thread, console); },
             {.priority = 13, .id = 412});
  start_from_shell(machine, {"prodcons.exe", "prodcons.exe", 2000},
                   [&](Actor main) { return supervise(main, store, rounds); });
  machine.run();
}

void play_deadlock_of_2(Machine& machine, u32 rounds) {
  play_deadlock(machine, 2, rounds);
}

void play_deadlock_of_5(Machine& machine, u32 rounds) {
  play_deadlock(machine, 5, rounds);
}

void play_any_wait(Machine& machine, u32 rounds) {
  start_from_shell(machine, {"anywait.exe", "anywait.exe", 2400},
                   [&](Actor main) { return try_any_waits(main, rounds); });
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
