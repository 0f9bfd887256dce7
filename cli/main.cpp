#include <algorithm>
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
#include <fmt/ranges.h>
#include <malloc.h>

#include "cli/batch/batch_command.hpp"
#include "cli/batch/command_words.hpp"
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

bool names_output_folder(const std::string& word) {
  return word.starts_with("--out-dir");
}

// What a line that is not run may name as inputs: any word of it, or what an option has behind '='.
std::vector<std::string> named_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const auto& word : words) {
    const auto value = word.starts_with('-') ? word.find('=') + 1 : 0;
    files.push_back(word.substr(value));
  }
  return files;
}

bool refuses_sandbox(const std::vector<std::string>& words) {
  return std::ranges::find(words, "--no-sandbox") != words.end();
}

// Where the kernel refuses it, a run says so; what makes no run goes on.
void leave_rights(const std::vector<std::string>& words) {
  if (refuses_sandbox(words)) return;
  try {
    enter_sandbox({});
  } catch (const Failure&) {
  }
}

// Of a line that is not run, or of a run that has not looked yet at what its messages would do
// harm to.
void say_wrong(const std::string& text, const std::vector<std::string>& words) {
  if (!are_messages_guarded()) {
    leave_rights(words);
    try {
      guard_messages(named_files(words));
    } catch (const Failure&) {
      return;
    }
  }
  say(text);
}

// There may be none for the words either.
void say_out_of_memory(const std::vector<std::string>& words) {
  try {
    say(fmt::format("coldtrace: out of memory in '{}'\n",
                    printable(fmt::format("{}", fmt::join(words, " ")))));
  } catch (const std::bad_alloc&) {
    say("coldtrace: out of memory\n");
  }
}

Exit run_program(const std::vector<std::string>& words);

Exit run_words(const std::vector<std::string>& words) {
  CLI::App app{"Offline forensic parser and static toolkit for Windows", "coldtrace"};
  app.set_version_flag("-V,--version", [&words] {
    is_sandbox_off() = refuses_sandbox(words);  // its own flag is read later
    return version_text();
  });
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
  add_batch_command(app, exit, run_program);
  add_help_command(app, exit);
  if (const auto told = empty_value_message(app, words); !told.empty()) {
    say_wrong(told, words);
    return Exit::failure;
  }
  try {
    if (std::ranges::any_of(words, names_output_folder))
      if (const auto answer = run_output_folder_line(app, words, run_program)) return *answer;
    auto ordered =
        std::ranges::find(words, "--") != words.end() ? with_arguments_last(app, words) : words;
    std::ranges::reverse(ordered);
    app.parse(std::move(ordered));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(error, text, text);
      const OutputOptions standard;
      leave_rights(words);
      guard_output(standard, "text", named_files(words));
      Output output{standard};
      output.write(text.str());
      output.commit();
      return Exit::ok;
    }
    say_wrong(usage_message(app, error, words), words);
    return Exit::failure;
  }
  return exit;
}

// Runs a command line, the words behind the program's name, and says why it cannot.
Exit run_program(const std::vector<std::string>& words) {
  try {
    return run_words(words);
  } catch (const ClosedPipe&) {
    return broken_run_exit();
  } catch (const Failure& failure) {
    say_wrong(fmt::format("coldtrace: {}\n", printable(failure.message)), words);
  } catch (const std::bad_alloc&) {
    say_out_of_memory(words);
  } catch (const std::exception& error) {
    say_wrong(fmt::format("coldtrace: {}\n", printable(error.what())), words);
  }
  return Exit::failure;
}

}  // namespace

int main(int argc, char** argv) {
  // One input's memory serves the next: 7,200 page faults for 16,200 over 800 DLLs, a twentieth of
  // the processor's time (bench/compare-pe, `pe info` over folders).
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  hold_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a write then fails with EPIPE, which Output knows
  std::signal(SIGXFSZ, SIG_IGN);  // of `ulimit -f`: a write then fails with EFBIG
  const auto exit = run_program({argv + std::min(argc, 1), argv + argc});
#ifndef COLDTRACE_SANITIZED  // which looks for leaks at the end
  // What is left is memory, which the kernel takes back faster than destructors do.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(exit));
#endif
  return static_cast<int>(exit);
}
