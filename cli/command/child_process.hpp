#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::cli {

struct ChildLimits {
  u64 address_space;  // bytes
  u64 cpu_seconds;
  u64 wall_seconds;
  u64 output;  // bytes
};

struct ChildResult {
  std::string output;
  std::string problem;  // empty, or what went wrong: the output is then useless
};

// Runs a program with an empty environment: `input` is its standard input, its standard output is
// the result, its standard error is discarded. Whatever it does, this returns within `wall_seconds`
// and leaves no process behind.
ChildResult run_child(const std::string& program, core::ByteView input, const ChildLimits& limits,
                      const std::vector<std::string>& arguments = {});

}  // namespace coldtrace::cli
