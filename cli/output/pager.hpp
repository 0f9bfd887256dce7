#pragma once

namespace coldtrace::cli {

// Puts $PAGER, or less, between standard output and its terminal: whatever this process writes to
// standard output and standard error from here on is paged. The run goes on in a child, so that it
// needs no right to run programs; once the pager has ended, the child's status is the program's, or
// 2 if the pager cannot be run. Does nothing if standard output is not a terminal, or there is no
// pager. To be called before there are threads, and before the sandbox.
void start_pager();

}  // namespace coldtrace::cli
