#pragma once

#include "cli/trace/analysis/processors/stack_run.hpp"

namespace coldtrace::cli {

// Which stacks an export has.
void add_stack_options(Command& command, StackOptions& options);

}  // namespace coldtrace::cli
