#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

constexpr u32 sector_run = 4096;
constexpr u32 large_read = 16 * sector_run;
constexpr u64 keyboard_routine = 0xffff'f880'0140'1000;
constexpr u8 keyboard_vector = 0xa1;
constexpr u32 key_down = 0x100;  // WM_KEYDOWN
constexpr u64 notepad_window = 0x10'0042;
constexpr Duration longest_idle = 1h;

// --- a user who types into an editor, which saves now and then

struct Desk {
  DispatcherObject& keys;      // set by the keyboard's interrupt
  DispatcherObject& messages;  // of the editor
  Thread* editor = nullptr;
};

Program read_input(Actor self, Desk& desk) {
  for (;;) {
    co_await self.wait(desk.keys);
    co_await self.compute(20us, 60us);
    self.send({*desk.editor, notepad_window, key_down});
    self.release(desk.messages);
  }
}

Program save(Actor self, DispatcherObject& done) {
  for (u64 left = 1 + self.random(4); left > 0; --left) {
    const u64 offset = self.random(1 << 20) * sector_run;
    const auto bytes = static_cast<u32>(sector_run * (1 + self.random(16)));
    if (self.random(2) == 0)
      self.read(done, offset, bytes);
    else
      self.write(done, offset, bytes);
    co_await self.wait(done, wait_reason::executive);
    co_await self.compute(10us, 50us);
  }
}

void press_key(Machine& machine, Desk& desk) {
  auto& state = machine.state();
  std::array<std::byte, 8> key;
  for (auto& byte : key) byte = static_cast<std::byte>(machine.random(256));
  state.tell(&MachineLog::key_pressed, state.moment(), std::span<const std::byte, 8>{key});
  machine.set(desk.keys, 6);  // IO_KEYBOARD_INCREMENT
}

Program edit(Actor self, Desk& desk, u32 rounds) {
  desk.editor = &self.thread();
  auto& done = self.machine().add_object(ObjectType::notification_event, 0);
  Duration idle = 1ms;
  for (u32 round = 0; round < rounds; ++round) {
    co_await save(self, done);
    self.machine().plan_interrupt(self.machine().now() + ticks_of(idle), keyboard_routine,
                                  keyboard_vector, [&] { press_key(self.machine(), desk); });
    co_await self.wait(desk.messages);
    co_await self.compute(200us, 800us);
    idle = std::min(idle * 2, longest_idle);
  }
}

// --- several threads whose requests overlap

Program load(Actor self, u32 rounds) {
  std::array<DispatcherObject*, 3> done{};
  for (auto*& event : done) event = &self.machine().add_object(ObjectType::notification_event, 0);
  u64 offset = self.random(1 << 16) * sector_run;
  for (u32 round = 0; round < rounds; ++round) {
    // Three requests at once, one behind the other on the disk.
    for (auto* event : done) {
      self.read(*event, offset, large_read);
      offset += large_read;
    }
    co_await self.wait_all(*done[0], *done[1], *done[2]);
    co_await self.compute(500us, 3ms);
    self.write(*done[0], self.random(1 << 16) * sector_run, sector_run);
    co_await self.wait(*done[0], wait_reason::executive);
    co_await self.sleep(Duration{20ms} + Duration{static_cast<i64>(self.random(400'000))});
  }
}

Program load_together(Actor self, u32 rounds) {
  std::vector<Thread*> threads;
  for (int i = 0; i < 3; ++i)
    threads.push_back(&self.start_thread([&](Actor thread) { return load(thread, rounds); }));
  for (auto* thread : threads) co_await self.wait(thread->object);
}

}  // namespace

void play_disk_bursts(Machine& machine, u32 rounds) {
  start_from_shell(machine, {"loader.exe", "loader.exe", 2600},
                   [&](Actor main) { return load_together(main, rounds); });
  machine.run();
}

void play_disk_idle(Machine& machine, u32 rounds) {
  Desk desk{machine.add_object(ObjectType::synchronization_event, 0), machine.add_semaphore(0)};
  auto& csrss = machine.add_process({"csrss.exe", "csrss.exe", 400});
  add_thread(machine, csrss, [&](Actor thread) { return read_input(thread, desk); },
             {.priority = 13, .id = 408});
  start_from_shell(machine, {"notepad.exe", "notepad.exe", 520},
                   [&](Actor main) { return edit(main, desk, rounds); });
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
