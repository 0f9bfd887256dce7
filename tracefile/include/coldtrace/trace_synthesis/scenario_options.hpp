#pragma once

#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"

namespace coldtrace::tracefile {

// What a synthetic run of a system depends on.
struct ScenarioOptions {
  u64 seed = 1;
  u32 rounds = 0;     // how often the scenario's loop runs; 0: its default
  TracedImage ntdll;  // the trace claims to use its system call numbers
};

}  // namespace coldtrace::tracefile
