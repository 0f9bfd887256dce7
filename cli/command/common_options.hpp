#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command/options.hpp"
#include "cli/command/report.hpp"
#include "cli/command/text_options.hpp"
#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "cli/sandbox/sandbox.hpp"

namespace coldtrace::cli {

// The options of every command. A command's own options derive from them.
struct CommonOptions {
  OutputOptions output;
  std::vector<std::string> formats;  // the default first
  std::string format;                // empty until begin_run() if --format is not given
  TextOptions text;
  Int64 int64 = Int64::number;
  FindingPolicy findings;
  std::vector<std::string> named_inputs;  // from begin_run() on: all that options name
};

// Before a run: determines the format (cli/command/default_format.hpp), throws Failure if the
// options contradict each other, starts a pager and calls enter_run().
void begin_run(CommonOptions& options, const Command& command);

// Enters the sandbox and, inside it, throws Failure if the output would harm one of the command's
// inputs (cli/command/output_guard.hpp). begin_run() leaves this to commands whose SandboxNeeds say
// `later`.
void enter_run(const CommonOptions& options, const SandboxNeeds& needs);

// Adds the options of every command; `formats` lists what --format takes, the default first.
void add_common_options(Command& command, const std::vector<std::string>& formats,
                        CommonOptions& options);

// -j, --jobs: threads, including those that compress the output, which does not depend on their
// number. By default one per CPU.
void add_jobs_option(Command& command, CommonOptions& options, unsigned& jobs);

// The same, where `help` says what is done at a time.
void add_jobs_option(Command& command, CommonOptions& options, unsigned& jobs, const char* help);

// A subcommand with the common options and those that `define(command, options)` adds; `exit`
// becomes what `run(options)` returns.
template <class Options, class Define, class Run>
void add_command(CLI::App& parent, Exit& exit, const CommandHelp& help,
                 std::vector<std::string> formats, Define define, Run run) {
  add_command(parent, help, [=, &exit, formats = std::move(formats)](Command& command) {
    auto options = std::make_shared<Options>();
    add_common_options(command, formats, *options);
    define(command, *options);
    command.callback([options, run, &exit, command] {
      begin_run(*options, command);
      exit = run(*options);
    });
  });
}

}  // namespace coldtrace::cli
