#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

Program explore(Actor self, ProcessOptions program, Actor::Body main, DispatcherObject& input) {
  auto& started = self.start_process(program, main);
  co_await self.wait(started.process->object);
  co_await self.wait(input);  // that never comes
}

}  // namespace

void start_from_shell(Machine& machine, const ProcessOptions& program, const Actor::Body& main) {
  auto& explorer = machine.add_process({"explorer.exe", "C:\\Windows\\explorer.exe", 1200});
  auto& input = machine.add_object(ObjectType::synchronization_event, 0);
  add_thread(machine, explorer, [&](Actor thread) { return explore(thread, program, main, input); },
             {.id = 1204});
}

}  // namespace coldtrace::tracefile::synthesis
