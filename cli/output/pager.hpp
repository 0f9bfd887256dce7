#pragma once

namespace coldtrace::cli {

// Puts $PAGER, or less, between standard output and the terminal that it is: whatever this process
// writes there and to standard error from here on is shown page by page. The run goes on in a
// child, so that it needs no right to run programs; its status is the program's, once the pager has
// ended, or 2 where that cannot be run. Nothing happens where standard output is not a terminal, or
// there is no pager. Before there are threads, and before the sandbox.
void start_pager();

}  // namespace coldtrace::cli
