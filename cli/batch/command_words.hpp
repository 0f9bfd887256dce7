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
  bool has_jobs = false;          // takes --jobs, which is not in `rest`
  std::vector<std::string> formats;
  std::string given_format;          // in `rest`
  std::vector<std::string> files;    // named in `rest`
  std::vector<std::string> parents;  // of these, those given with --parent

  // "ntfs-snapshot"
  std::string kind() const;
  // "ntfs snapshot --format ndjson"
  std::string text() const;
};

// Throws Failure if the words ask for help or the version instead of a run.
void refuse_help(CLI::App& root, const std::vector<std::string>& words);

// Interprets the words and checks that the command takes an input and them; otherwise the error is
// reported as in any run, and nothing is returned. Throws Failure if a batch cannot run the
// command.
std::optional<BatchedCommand> read_command(CLI::App& root, const std::vector<std::string>& words,
                                           const RunProgram& run, Exit& exit);

// A command line with arguments in front of "--" and behind it, with all of them behind: CLI11
// takes none there if it has one already. Others as they are.
std::vector<std::string> with_arguments_last(CLI::App& root, const std::vector<std::string>& words);

// The batch that a command line with --out-dir asks for: its arguments are the inputs (only the
// first one if the command has others), and --jobs is the number of inputs at a time. Nothing if it
// does not have that option exactly once with a value.
std::optional<BatchOptions> read_output_folder_line(CLI::App& root,
                                                    const std::vector<std::string>& words);

}  // namespace coldtrace::cli
