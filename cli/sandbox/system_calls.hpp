#pragma once

namespace coldtrace::cli {

// The system calls that a run needs in addition to those of all runs.
struct SystemCallNeeds {
  bool names_output = false;   // an unnamed file gets a name
  bool replaces = false;       // files are renamed and removed
  bool makes_named = false;    // files are created with a name, because the file system needs one
  bool makes_folders = false;  // folders are created and removed, with files written in parts
  bool processes = false;      // other processes are created, talked to and ended
  bool helper = false;         // and another program is run
};

// Whether this program was built with libseccomp.
bool has_system_call_filter();

// Whether the kernel supports system call filters.
bool kernel_takes_filters();

// From now on no thread of this process, and nothing it starts, can make other system calls: no
// existing file is opened for writing or gets another owner, times or permissions, and there are no
// sockets and no other programs. False if that is not possible.
bool filter_system_calls(const SystemCallNeeds& needs);

}  // namespace coldtrace::cli
