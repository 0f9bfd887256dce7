#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

constexpr u64 kernel_code = 0xffff'f800'0100'0000;
constexpr u64 pool = 0xffff'f880'0000'0000;

// A thread of the system touches its memory and then waits for work.
Program serve_system(Actor self, DispatcherObject& work) {
  self.fault({pool + self.random(1 << 20) * 4096, kernel_code + self.random(1 << 16),
              self.random(2) == 1});
  co_await self.compute(300us, 600us);
  co_await self.wait(work, wait_reason::queue);
}

Program wait_for_work(Actor self, DispatcherObject& work) {
  co_await self.compute(500us, 2ms);
  co_await self.wait(work);
}

struct Image {
  std::string_view name;
  u32 id;
  std::vector<Image> children;
};

// A process starts three threads and then, one after the other, its children.
Program run_image(Actor self, const Image& image, DispatcherObject& work) {
  for (int i = 0; i < 3; ++i) {
    co_await self.compute(200us, 1ms);
    self.start_thread([&](Actor thread) { return wait_for_work(thread, work); });
  }
  for (const auto& child : image.children) {
    co_await self.compute(2ms, 10ms);
    self.start_process({std::string{child.name}, std::string{child.name}, child.id},
                       [&](Actor main) { return run_image(main, child, work); });
  }
  co_await self.wait(work);
}

// Starts the system's threads, and the session manager, which starts the rest.
Program initialize(Actor self, const Image& session_manager, DispatcherObject& work, u32 rounds) {
  for (u32 i = 0; i < rounds; ++i) {
    self.start_thread([&](Actor thread) { return serve_system(thread, work); },
                      {.start_address = kernel_code + self.random(1 << 12) * 16, .priority = 13});
    co_await self.compute(300us, 600us);
  }
  auto& started =
      self.start_process({"smss.exe", "\\SystemRoot\\System32\\smss.exe", 264},
                         [&](Actor main) { return run_image(main, session_manager, work); });
  co_await self.wait(started.process->object);
}

}  // namespace

void play_boot(Machine& machine, u32 rounds) {
  const Image session_manager{
      "smss.exe",
      264,
      {{"csrss.exe", 400, {}},
       {"winlogon.exe",
        460,
        {{"services.exe",
          520,
          {{"svchost.exe", 640, {}}, {"svchost.exe", 700, {}}, {"spoolsv.exe", 760, {}}}},
         {"lsass.exe", 580, {}},
         {"userinit.exe", 820, {{"explorer.exe", 880, {}}}}}}}};
  auto& work = machine.add_semaphore(0);
  auto& system = machine.add_process({"System", "", 4});
  add_thread(machine, system,
             [&](Actor thread) { return initialize(thread, session_manager, work, rounds); },
             {.start_address = kernel_code + 0x1f'3a40, .id = 8});
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
