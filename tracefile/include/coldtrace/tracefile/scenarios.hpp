#pragma once

#include <array>

#include "coldtrace/tracefile/scenario_options.hpp"

namespace coldtrace::tracefile {

// Made-up runs of a system, to try readers and diagrams on: what the seeds' authors looked at.
struct Scenario {
  std::string_view name;
  std::string_view summary;
};

const std::array<Scenario, 6>& scenarios();

// Writes the scenario's trace; the same bytes for the same options. False for an unknown name.
bool synthesize(std::string_view name, const ScenarioOptions& options,
                const CtraceWriter::Sink& sink);

}  // namespace coldtrace::tracefile
