#pragma once

#include <string>
#include <vector>

namespace coldtrace::cli {

// What a run needs once all is parsed, beside reading files and writing what is open already: what
// Command::before_sandbox() tells.
struct SandboxNeeds {
  std::string output;                // the file that the results go to; empty: standard output
  std::string output_folder;         // one that is there, and gets its name beside it at the end
  std::vector<std::string> folders;  // below which the run makes folders and files
  std::string helper;                // the only program that it may run; empty: none
  bool processes = false;            // makes processes of itself, and ends them
  bool named_temporaries = false;    // has temporary files that have a name for a moment
  bool later = false;                // the command itself enters, when its output is open
};

// What --no-sandbox sets, which stands before a command or among its options.
bool& is_sandbox_off();
inline constexpr const char* no_sandbox_help = "Run without the sandbox";

// Gives up for good, of this process and all that it starts, whatever the kernel lets a process
// give up (Landlock, seccomp) and the run has no need of: to write, empty, rename or remove files
// that exist, to change their permissions, owners or times; to make files but for the output and
// temporary ones; sockets, other programs, other processes' memory, mounts. Files can be read. It
// comes before an input is read, and before there are threads.
void enter_sandbox(const SandboxNeeds& needs);

// What of it is active in a run here, for --version.
std::string sandbox_text();

}  // namespace coldtrace::cli
