#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include "cli/command/command.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/command/version.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/output.hpp"
#include "cli/output/text.hpp"

namespace {

using namespace coldtrace::cli;

// The word in the place of a command that is none; empty when the error is another one.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const auto* command = &app;
  for (const std::string word : std::span{argv, static_cast<std::size_t>(argc)}.subspan(1)) {
    const auto all =
        command->get_subcommands([](const auto* sub) { return !sub->get_name().empty(); });
    if (word.starts_with('-') || all.empty()) return {};
    const auto next = std::ranges::find(all, word, &CLI::App::get_name);
    if (next == all.end())
      return fmt::format("'{}' is no command of '{}'", word, command->get_name());
    command = *next;
  }
  return {};
}

// What a line that is not run may name as inputs: any word of it, or what an option has behind '='.
std::vector<std::string> named_files(std::span<char*> words) {
  std::vector<std::string> files;
  for (const std::string word : words) {
    const auto value = word.starts_with('-') ? word.find('=') + 1 : 0;
    files.push_back(word.substr(value));
  }
  return files;
}

Exit run(int argc, char** argv) {
  CLI::App app{"Offline forensic parser and static toolkit for Windows", "coldtrace"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("See 'coldtrace COMMAND --help' for details and examples.");
  Exit exit = Exit::failure;
  add_pe_commands(app, exit);
  add_syscalls_commands(app, exit);
  add_trace_commands(app, exit);
  add_ntfs_commands(app, exit);
  add_hooks_commands(app, exit);
  add_findings_command(app, exit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const auto files = named_files(std::span{argv, static_cast<std::size_t>(argc)}.subspan(1));
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(error, text, text);
      const OutputOptions standard;
      guard_output(standard, "text", files);
      Output output{standard};
      output.write(text.str());
      output.commit();
      return Exit::ok;
    }
    guard_messages(files);
    // Not by CLI11, which repeats an argument as it is.
    const auto unknown = unknown_command(app, argc, argv);
    say(fmt::format("coldtrace: {}\nRun with --help for more information.\n",
                    printable(unknown.empty() ? error.what() : unknown)));
    return Exit::failure;
  }
  return exit;
}

}  // namespace

int main(int argc, char** argv) {
  // One input's memory serves the next: giving it back in between costs more than the parsing.
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  hold_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a write then fails with EPIPE, which Output knows
  Exit exit = Exit::failure;
  try {
    exit = run(argc, argv);
  } catch (const ClosedPipe&) {
    exit = Exit::ok;
  } catch (const Failure& failure) {
    say(fmt::format("coldtrace: {}\n", printable(failure.message)));
  } catch (const std::exception& error) {
    say(fmt::format("coldtrace: {}\n", printable(error.what())));
  }
#ifndef COLDTRACE_SANITIZED  // which looks for leaks at the end
  // What is left is memory, which the kernel takes back faster than destructors do.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(exit));
#endif
  return static_cast<int>(exit);
}
