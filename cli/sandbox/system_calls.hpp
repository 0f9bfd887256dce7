#pragma once

namespace coldtrace::cli {

// The system calls that a run needs in addition to those of all runs.
struct SystemCallNeeds {
  bool names_output = false;  // a file without a name gets one
  bool replaces = false;      // files are renamed and removed
  bool makes_named =
      false;  // files are created with a name, since the file system has no unnamed ones
  bool makes_folders = false;  // folders are created and removed, with files written in parts
  bool processes = false;      // other processes are started, talked to and ended
  bool helper = false;         // and another program is run
};

// Whether this program was built with libseccomp.
bool has_system_call_filter();

// Whether the kernel accepts filters of system calls.
bool kernel_takes_filters();

// From here on, all threads of this process and what it starts have no other system calls: no
// existing file is opened for writing, or changes its owner, times or permissions; there are no
// sockets and no other programs. False if not possible.
bool filter_system_calls(const SystemCallNeeds& needs);

}  // namespace coldtrace::cli
