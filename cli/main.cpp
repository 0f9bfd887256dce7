#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
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
#include "cli/driver/driver_commands.hpp"
#include "cli/help/help_command.hpp"
#include "cli/help/misspelling.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/output.hpp"
#include "cli/output/text.hpp"
#include "cli/report/report_command.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/servicing/servicing_command.hpp"

namespace {

using namespace coldtrace::cli;

// What a line that is not run may name as inputs: any word of it, or what an option has behind '='.
std::vector<std::string> named_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const auto& word : words) {
    const auto value = word.starts_with('-') ? word.find('=') + 1 : 0;
    files.push_back(word.substr(value));
  }
  return files;
}

Exit run_main(int argc, char** argv) {
  CLI::App app{"Offline forensic parser and static toolkit for Windows", "coldtrace"};
  app.set_version_flag("-V,--version", [] { return version_text(); });
  app.add_flag("--no-sandbox", is_sandbox_off(), no_sandbox_help);
  app.require_subcommand(1);
  add_help_flags(app);
  Exit exit = Exit::failure;
  add_pe_commands(app, exit);
  add_syscalls_commands(app, exit);
  add_trace_commands(app, exit);
  add_ntfs_commands(app, exit);
  add_hooks_commands(app, exit);
  add_driver_commands(app, exit);
  add_servicing_command(app, exit);
  add_report_command(app, exit);
  add_findings_command(app, exit);
  add_help_command(app, exit);
  const std::vector<std::string> words{argv + 1, argv + argc};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const auto files = named_files(words);
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
    say(usage_message(app, error, words));
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
    exit = run_main(argc, argv);
  } catch (const ClosedPipe&) {
    exit = Exit::ok;
  } catch (const Failure& failure) {
    say(fmt::format("coldtrace: {}\n", printable(failure.message)));
  } catch (const std::bad_alloc&) {
    say("coldtrace: out of memory\n");
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
