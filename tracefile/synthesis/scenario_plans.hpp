#pragma once

#include "tracefile/synthesis/ctrace_file.hpp"
#include "tracefile/synthesis/scenario_plays.hpp"

namespace coldtrace::tracefile::synthesis {

struct ScenarioPlan {
  std::string_view name;
  std::string_view summary;
  u32 rounds;  // unless the caller says how many
  void (*play)(Machine& machine, u32 rounds);
  CtraceFileOptions file;
  MachineOptions machine{};
};

const std::vector<ScenarioPlan>& scenario_plans();
const ScenarioPlan* find_plan(std::string_view name);

// Lets it run on a machine with these logs.
ScenarioAnswers play(const ScenarioPlan& plan, const ScenarioOptions& options,
                     std::vector<MachineLog*> logs);

}  // namespace coldtrace::tracefile::synthesis
