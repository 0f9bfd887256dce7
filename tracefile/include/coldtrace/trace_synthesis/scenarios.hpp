#pragma once

#include "coldtrace/trace_synthesis/scenario_answers.hpp"
#include "coldtrace/trace_synthesis/scenario_options.hpp"

namespace coldtrace::tracefile {

// Synthetic runs of a system, for trying out readers, analyses and diagrams.
struct Scenario {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] const std::vector<Scenario>& scenarios();

// Writes the scenario's trace, the same bytes for the same options, and returns what is true of it.
// Nothing for an unknown name.
[[nodiscard]] std::optional<ScenarioAnswers> synthesize(std::string_view name,
                                                        const ScenarioOptions& options,
                                                        const CtraceWriter::Sink& sink);

}  // namespace coldtrace::tracefile
