#include "tracefile/synthesis/scenario_plans.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

CtraceFileOptions boot_file() {
  CtraceFileOptions options{.schemas = {"wmk"}};
  options.boot = true;
  options.buffers = 32;
  return options;
}

CtraceFileOptions wrapped_file() {
  CtraceFileOptions options{.schemas = {"wmk"}};
  options.wrap_around = true;
  options.buffers = 4;
  options.buffer_size = 4096;
  return options;
}

CtraceFileOptions vxd_file() {
  CtraceFileOptions options{.schemas = {"vxdmon"}};
  options.processors = 1;
  return options;
}

MachineOptions with_reused_ids() {
  MachineOptions options;
  options.reuses_ids = true;
  return options;
}

}  // namespace

const std::vector<ScenarioPlan>& scenario_plans() {
  const CtraceFileOptions wmk{.schemas = {"wmk"}};
  const CtraceFileOptions vtrace{.schemas = {"vtrace"}};
  const CtraceFileOptions both{.schemas = {"wmk", "vtrace"}};
  const CtraceFileOptions calls{.schemas = {"wmk", "dynamic_tracing"}};
  static const std::vector<ScenarioPlan> all = {
      {"producer-consumer",
       "two threads share a mutant, and each calls a server; a third one waits for both", 20,
       play_producer_consumer, wmk},
      {"deadlock-2", "two threads, each holding the mutant that the other one waits for", 5,
       play_deadlock_of_2, wmk},
      {"deadlock-5", "five threads in a circle", 5, play_deadlock_of_5, wmk},
      {"boot", "the first threads and processes of a system, traced before a disk exists", 30,
       play_boot, boot_file()},
      {"disk-idle", "a disk between bursts of requests, and a user who types", 12, play_disk_idle,
       vtrace},
      {"system-calls", "a mix of system calls of four threads", 100, play_system_calls, calls},
      {"any-wait", "waits for either of two mutants: in a cycle with a way out, and in a deadlock",
       3, play_any_wait, both},
      {"priority-inversion", "threads of middle priority keep the holder of a mutant from running",
       5, play_priority_inversion, wmk},
      {"inversion-chain",
       "the same, but the holder waits for another mutant, whose owner is kept from "
       "running",
       5, play_inversion_chain, wmk},
      {"lock-convoy", "six threads queue up for one mutant", 20, play_lock_convoy, wmk},
      {"server", "worker threads under load, whose system calls make others", 60, play_server, wmk},
      {"vxd-services", "services of virtual device drivers that call others", 40, play_vxd_services,
       vxd_file()},
      {"disk-bursts", "three threads with several disk requests at once", 8, play_disk_bursts,
       vtrace},
      {"migration", "a thread that is pushed from one processor to the other", 10, play_migration,
       wmk},
      {"wrapped", "buffers that were overwritten: the processors' traces begin at different times",
       60, play_wrapped, wrapped_file()},
      {"losses", "buffers that were lost in the middle of a trace", 20, play_losses, wmk},
      {"id-reuse", "processes and threads that reuse the ids of others", 10, play_id_reuse, wmk,
       with_reused_ids()},
  };
  return all;
}

const ScenarioPlan* find_plan(std::string_view name) {
  for (const auto& plan : scenario_plans())
    if (plan.name == name) return &plan;
  return nullptr;
}

ScenarioAnswers play(const ScenarioPlan& plan, const ScenarioOptions& options,
                     std::vector<MachineLog*> logs) {
  auto machine_options = plan.machine;
  machine_options.processors = plan.file.processors;
  machine_options.seed = options.seed;
  Machine machine{machine_options, std::move(logs)};
  plan.play(machine, options.rounds == 0 ? plan.rounds : options.rounds);
  auto answers = machine.finish();
  answers.start = {CtraceFile::start};
  return answers;
}

}  // namespace coldtrace::tracefile::synthesis
