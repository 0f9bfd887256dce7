#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

// Numbers of Windows Server 2003, x86.
constexpr Service nt_device_io_control_file{0x42};
constexpr Service nt_read_file{0xbf};
constexpr Service nt_remove_io_completion{0xc7};
constexpr Service nt_terminate_thread{0x10b};
constexpr Service nt_write_file{0x11c};
// A service of win32k, which calls back a function in user mode.
constexpr Service nt_user_dispatch_message{0x1161};

constexpr std::size_t workers = 4;
constexpr u32 page = 4096;

constexpr u64 network_routine = 0xffff'f880'0150'1000;
constexpr u8 network_vector = 0xb1;
constexpr u8 network_increment = 2;  // IO_NETWORK_INCREMENT
constexpr u64 packet_time = 120;     // ticks

struct Server {
  DispatcherObject& requests;  // a count of them
  u32 left;                    // requests that nobody has taken
};

Program read_file(Actor self, DispatcherObject& done) {
  self.enter(nt_read_file);
  co_await self.compute(5us, 15us);
  if (self.random(3) == 0) {
    // One number after the other: compilers evaluate arguments in different orders.
    const auto size = page * static_cast<u32>(1 + self.random(8));
    self.read(done, self.random(1 << 16) * page, size);
    co_await self.wait(done, wait_reason::executive);
    co_await self.compute(5us, 10us);
  }
  self.leave(nt_read_file);
}

// The function that is called back makes calls, and may dispatch a message in turn.
Program dispatch_message(Actor self, DispatcherObject& done) {
  self.enter(nt_user_dispatch_message);
  co_await self.compute(10us, 20us);
  co_await read_file(self, done);
  if (self.random(4) == 0) co_await dispatch_message(self, done);
  co_await self.compute(5us);
  self.leave(nt_user_dispatch_message);
}

Program write_file(Actor self) {
  self.enter(nt_write_file);
  co_await self.compute(5us, 10us);
  self.enter(nt_device_io_control_file);
  co_await self.compute(10us, 30us);
  self.leave(nt_device_io_control_file);
  co_await self.compute(2us);
  self.leave(nt_write_file);
}

Program handle_request(Actor self, DispatcherObject& done) {
  co_await self.compute(50us, 300us);
  if (self.random(4) == 0)
    co_await dispatch_message(self, done);
  else
    co_await read_file(self, done);
  co_await self.compute(100us, 900us);
  co_await write_file(self);
}

Program work(Actor self, Server& server) {
  auto& done = self.machine().add_object(ObjectType::notification_event, 0);
  for (;;) {
    self.enter(nt_remove_io_completion);
    co_await self.wait(server.requests, wait_reason::queue);
    self.leave(nt_remove_io_completion);
    if (server.left == 0) break;
    --server.left;
    co_await handle_request(self, done);
  }
  self.enter(nt_terminate_thread);  // from which no thread returns
  co_await self.compute(5us);
}

// Each one interrupts the first processor, sometimes while the deferred call of the last one is not
// done.
void receive(Machine& machine, Server& server, u32 count) {
  for (u32 i = 0; i < count; ++i)
    machine.plan_interrupt(machine.now() + 100 + i * packet_time, network_routine, network_vector,
                           [&] { machine.release(server.requests, 1, network_increment); });
}

// Requests come one by one, and now and then many at once.
Program listen(Actor self, Server& server, u32 rounds) {
  std::vector<Thread*> threads;
  for (std::size_t i = 0; i < workers; ++i)
    threads.push_back(&self.start_thread([&](Actor thread) { return work(thread, server); }));
  auto& timer = self.machine().add_object(ObjectType::synchronization_timer, 0);
  for (u32 come = 0; come < rounds;) {
    const auto most = static_cast<u32>(self.random(8) == 0 ? 12 : 1 + self.random(2));
    const u32 now = std::min(most, rounds - come);
    receive(self.machine(), server, now);
    come += now;
    self.set_timer(timer, 1ms);
    co_await self.wait(timer);
  }
  self.release(server.requests, workers);  // with nothing to do: each worker ends
  for (auto* thread : threads) co_await self.wait(thread->object);
}

// --- services of virtual device drivers, of which some call others

constexpr Service ifsmgr_ring0_file_io{0x0040'0032};
constexpr Service vcache_find_block{0x048b'0007};
constexpr Service ios_send_command{0x0010'0004};
constexpr Service vmm_get_system_time{0x0001'003f};

Program find_block(Actor self) {
  self.enter(vcache_find_block);
  co_await self.compute(3us, 9us);
  self.leave(vcache_find_block);
}

Program send_command(Actor self) {
  self.enter(ios_send_command);
  co_await self.compute(20us, 90us);
  self.enter(vmm_get_system_time);
  co_await self.compute(1us, 2us);
  self.leave(vmm_get_system_time);
  self.leave(ios_send_command);
}

Program do_file_io(Actor self) {
  self.enter(ifsmgr_ring0_file_io);
  co_await self.compute(10us, 30us);
  co_await find_block(self);
  if (self.random(3) == 0) {
    co_await send_command(self);
    co_await find_block(self);
  }
  self.leave(ifsmgr_ring0_file_io);
}

Program call_drivers(Actor self, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    co_await do_file_io(self);
    self.enter(vmm_get_system_time);
    co_await self.compute(1us, 2us);
    self.leave(vmm_get_system_time);
    co_await self.compute(20us, 200us);
  }
}

}  // namespace

void play_server(Machine& machine, u32 rounds) {
  Server server{machine.add_semaphore(0), rounds};
  start_from_shell(machine, {"server.exe", "server.exe -p 80", 5000},
                   [&](Actor main) { return listen(main, server, rounds); });
  machine.run();
}

void play_vxd_services(Machine& machine, u32 rounds) {
  auto& process = machine.add_process({"explorer.exe", "", 1200});
  add_thread(machine, process, [&](Actor thread) { return call_drivers(thread, rounds); },
             {.id = 1204});
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
