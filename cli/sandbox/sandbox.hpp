#pragma once

#include <string>
#include <vector>

namespace coldtrace::cli {

// What a run needs once everything is parsed, besides reading files and writing to what is already
// open; filled in by Command::before_sandbox().
struct SandboxNeeds {
  std::string output;                // the file for the results; empty: standard output
  std::string output_folder;         // a temporary folder, renamed in place at the end
  std::vector<std::string> folders;  // below these the run creates folders and files
  std::string helper;                // the only program it may run; empty: none
  bool processes = false;            // forks processes, and ends them
  bool named_temporaries = false;    // creates temporary files that briefly have a name
  bool later = false;                // the command enters itself, once its output is open
};

// Set by --no-sandbox, which may precede a command or be among its options.
bool& is_sandbox_off();
inline constexpr const char* no_sandbox_help = "Run without the sandbox";

// Gives up for good, for this process and all it starts, every right that the kernel lets a process
// give up (Landlock, seccomp) and that the run does not need: to write, truncate, rename or remove
// existing files, or change their permissions, owners or times; to create files other than the
// output and temporary ones; sockets, other programs, other processes' memory, mounts. Files can be
// read. To be called before any input is read, and before there are threads.
void enter_sandbox(const SandboxNeeds& needs);

// Which parts are active in a run on this system, for --version.
std::string sandbox_text();

}  // namespace coldtrace::cli
