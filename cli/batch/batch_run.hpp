#pragma once

#include "cli/batch/batch_options.hpp"
#include "cli/batch/command_words.hpp"

namespace coldtrace::cli {

// Runs the command on each input that is not done yet, and writes a summary. Throws Failure.
Exit run_batch(const BatchOptions& options, const BatchedCommand& command, const RunProgram& run);

}  // namespace coldtrace::cli
