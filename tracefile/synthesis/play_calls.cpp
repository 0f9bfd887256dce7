#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

constexpr u32 object_name_not_found = 0xc000'0034;
constexpr u32 invalid_handle = 0xc000'0008;

// --- a mix of calls

// Of the seed's debugger output.
constexpr Service open_key_transacted{0x119, 0xb74a'2d8f, 0xffff'f803'0dfe'2ac0};

struct Mix {
  DispatcherObject& lock;
  u32 left;
};

Program open_key(Actor self) {
  self.enter(open_key_transacted, {self.random(1 << 16), 0x20019, 0x14'f000, 0});
  co_await self.compute(3us, 6us);
  self.leave(open_key_transacted, self.random(4) == 0 ? object_name_not_found : 0);
}

void enter_some(const Actor& self, const Service& service) {
  const auto argument = [&] { return self.random(1 << 20); };
  switch (self.random(4)) {
    case 0:
      return self.enter(service);
    case 1:
      return self.enter(service, {argument()});
    case 2:
      return self.enter(service, {argument(), argument()});
    default:
      return self.enter(service, {argument(), argument(), argument(), argument()});
  }
}

// Some calls wait, and some call back a function that makes calls of its own.
Program call_some(Actor self, Mix& mix) {
  const Service service{static_cast<u32>(self.random(64))};
  enter_some(self, service);
  co_await self.compute(2us, 32us);
  switch (self.random(16)) {
    case 0:
      co_await self.sleep(1ms);
      break;
    case 1:
      co_await self.wait(mix.lock);
      co_await self.compute(5us, 50us);
      self.release(mix.lock);
      break;
    case 2:
      co_await call_some(self, mix);
      break;
    default:
      break;
  }
  self.leave(service, self.random(16) == 0 ? invalid_handle : 0);
}

Program make_calls(Actor self, Mix& mix) {
  while (mix.left > 0) {
    --mix.left;
    if (self.random(8) == 0)
      co_await open_key(self);
    else
      co_await call_some(self, mix);
  }
}

Program mix_calls(Actor self, Mix& mix) {
  for (int i = 0; i < 3; ++i)
    self.start_thread([&](Actor thread) { return make_calls(thread, mix); });
  co_await make_calls(self, mix);
}

}  // namespace

void play_system_calls(Machine& machine, u32 rounds) {
  Mix mix{machine.add_mutant(), rounds};
  start_from_shell(machine, {"mix.exe", "mix.exe", 4000},
                   [&](Actor main) { return mix_calls(main, mix); });
  machine.run();
}

}  // namespace coldtrace::tracefile::synthesis
