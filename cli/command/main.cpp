#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include "cli/command/command.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"

namespace {

using namespace coldtrace::cli;

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
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return Exit::ok;
    }
    // Not by CLI11, which repeats an argument as it is.
    fmt::print(stderr, "coldtrace: {}\nRun with --help for more information.\n",
               printable(error.what()));
    return Exit::failure;
  }
  return exit;
}

}  // namespace

int main(int argc, char** argv) {
  // One input's memory serves the next: giving it back in between costs more than the parsing.
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  std::signal(SIGPIPE, SIG_IGN);  // a write then fails with EPIPE, which Output knows
  Exit exit = Exit::failure;
  try {
    exit = run(argc, argv);
  } catch (const ClosedPipe&) {
    exit = Exit::ok;
  } catch (const Failure& failure) {
    fmt::print(stderr, "coldtrace: {}\n", printable(failure.message));
  } catch (const std::exception& error) {
    fmt::print(stderr, "coldtrace: {}\n", printable(error.what()));
  }
#ifndef __SANITIZE_ADDRESS__  // which looks for leaks at the end
  // What is left is memory, which the kernel takes back faster than destructors do.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(exit));
#endif
  return static_cast<int>(exit);
}
