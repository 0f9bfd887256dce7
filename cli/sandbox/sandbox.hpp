#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

// What a run needs after parsing, beside writing what is already open: what
// Command::before_sandbox() says.
struct SandboxNeeds {
  std::vector<std::string> inputs;  // files and folders that it reads, with all that is below
  std::vector<std::string> listed;  // folders whose names it reads
  // Each adds to both what is read besides. Called in the sandbox: it may read first bytes of the
  // inputs.
  std::vector<std::function<void(SandboxNeeds& needs)>> find_more_inputs;
  std::string output;                // the file that the results go to; empty: standard output
  std::string output_folder;         // exists already, under a temporary name beside its own
  std::vector<std::string> folders;  // below which the run makes folders and files
  std::string helper;                // the only program that it may run; empty: none
  bool processes = false;            // starts processes of this program, and ends them
  bool named_temporaries = false;    // has temporary files that have a name for a moment
  bool later = false;                // the command enters it itself, when its output is open
};

// What this process reads when the run is over, in the sandbox still: files, and folders with all
// that is below.
std::vector<std::string>& read_after_run();

// Set by --no-sandbox, which may come before a command or among its options.
bool& is_sandbox_off();
inline constexpr const char* no_sandbox_help = "Run without the sandbox";

// Gives up for good, for this process and everything that it starts, whatever the kernel lets a
// process give up (Landlock, seccomp) and the run does not need: writing, emptying, renaming or
// removing existing files, changing their permissions, owners or times; creating files other than
// the output and temporary ones; sockets, other programs, other processes' memory, mounts. Files
// can be read until leave_other_files(). Call it before an input is read, and before there are
// threads.
void enter_sandbox(const SandboxNeeds& needs);

// Whether this run has a sandbox, as far as this program decides it.
bool is_sandbox_possible();

// Throws Failure: the kernel has this part of the sandbox and did not take it.
[[noreturn]] void refuse_without(std::string_view part);

// Which parts are active in a run on this system, for --version.
std::string sandbox_text();

}  // namespace coldtrace::cli
