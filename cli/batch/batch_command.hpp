#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/batch/batch_options.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

void add_batch_command(CLI::App& app, Exit& exit, const RunProgram& run);

// Runs a command line with --out-dir; nothing if it has none.
std::optional<Exit> run_output_folder_line(CLI::App& app, const std::vector<std::string>& words,
                                           const RunProgram& run);

}  // namespace coldtrace::cli
