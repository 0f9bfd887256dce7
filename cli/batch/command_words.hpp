#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/batch/batch_options.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

// The command that a batch runs on each input.
struct BatchedCommand {
  std::vector<std::string> path;  // "ntfs", "snapshot"
  std::vector<std::string> rest;  // its options and further arguments
  bool has_jobs = false;          // takes --jobs, which `rest` does not have
  std::vector<std::string> formats;
  std::string given_format;          // that `rest` has
  std::vector<std::string> files;    // that `rest` names
  std::vector<std::string> parents;  // of these, those of --parent

  // "ntfs-snapshot"
  std::string kind() const;
  // "ntfs snapshot --format ndjson"
  std::string text() const;
};

// Throws Failure where the words ask for help or the version, and for no run.
void refuse_help(CLI::App& root, const std::vector<std::string>& words);

// What the words are, and whether the command takes an input and them: otherwise what is wrong is
// said as in any run, and there is nothing. Throws Failure where a batch cannot run it.
std::optional<BatchedCommand> read_command(CLI::App& root, const std::vector<std::string>& words,
                                           const RunProgram& run, Exit& exit);

// The batch that a command line with --out-dir asks for: its arguments are the inputs, or the first
// one where the command has others, --jobs is how many at a time. Nothing where it has no such
// option, or not once with a value.
std::optional<BatchOptions> read_output_folder_line(CLI::App& root,
                                                    const std::vector<std::string>& words);

}  // namespace coldtrace::cli
