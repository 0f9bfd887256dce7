#pragma once

namespace coldtrace::cli {

// The system calls that a run needs beside those of all runs.
struct SystemCallNeeds {
  bool names_output = false;   // a file without a name gets one
  bool replaces = false;       // files are renamed and removed
  bool makes_named = false;    // files are made with a name, since the file system has no others
  bool makes_folders = false;  // folders are made and removed, with files that are written in parts
  bool processes = false;      // other processes are made, talked to and ended
  bool helper = false;         // and another program is run
};

// Whether this program was built with libseccomp.
bool has_system_call_filter();

// Whether the kernel takes filters of system calls.
bool kernel_takes_filters();

// From here on there are no other system calls for any thread of this process and for what it
// starts: no file that exists is opened for writing, none changes its owner, its times or its
// permissions, there are no sockets and no other programs. False where it is not possible.
bool filter_system_calls(const SystemCallNeeds& needs);

}  // namespace coldtrace::cli
