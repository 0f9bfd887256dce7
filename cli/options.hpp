#pragma once

// What defining options needs of CLI11.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "cli/command.hpp"

namespace coldtrace::cli {

// What a command says of itself in --help, beside its options.
struct CommandHelp {
  const char* name;
  const char* summary;
  const char* examples;  // one or more command lines
  const char* exits;     // what 0, 1 and 2 mean here; the lines below "Exit status:"
};

// The options that every command has; `formats` lists what --format takes, the default first.
void add_common_options(CLI::App& command, const std::vector<std::string>& formats,
                        CommonOptions& options);

// A subcommand. Once it is named on the command line, `define(command, options)` adds its own
// options to the common ones: to have every command's takes longer than reading an image. Then
// `exit` is what `run(options)` returns.
template <class Options, class Define, class Run>
void add_command(CLI::App& parent, Exit& exit, const CommandHelp& help,
                 std::vector<std::string> formats, Define define, Run run) {
  auto* command = parent.add_subcommand(help.name, help.summary);
  command->preparse_callback([=, &exit, formats = std::move(formats)](std::size_t) {
    command->footer(std::string{"Examples:\n"} + help.examples + "\nExit status:\n" + help.exits);
    auto options = std::make_shared<Options>();
    add_common_options(*command, formats, *options);
    define(*command, *options);
    command->callback([options, run, &exit] { exit = run(*options); });
  });
}

}  // namespace coldtrace::cli
