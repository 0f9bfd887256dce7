#pragma once

#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"

namespace coldtrace::tracefile {

// What a made-up run of a system depends on.
struct ScenarioOptions {
  u64 seed = 1;
  u32 rounds = 0;     // how often the scenario's loop runs; 0 is its own number
  TracedImage ntdll;  // whose system call numbers the trace claims to have
};

}  // namespace coldtrace::tracefile
