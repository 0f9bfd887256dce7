#pragma once

#include "cli/trace/analysis/processors/stack_run.hpp"

namespace coldtrace::cli {

// Options for the stacks in an export.
void add_stack_options(Command& command, StackOptions& options);

}  // namespace coldtrace::cli
