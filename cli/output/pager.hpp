#pragma once

namespace coldtrace::cli {

// Puts $PAGER, or less, between standard output and its terminal: whatever this process writes
// there and to standard error from here on is shown page by page. The run continues in a child, so
// that it needs no right to run programs; the exit status is the child's, once the pager has ended,
// or 2 if the pager cannot be run. Does nothing if standard output is not a terminal, or there is
// no pager. Call it before there are threads, and before the sandbox.
void start_pager();

}  // namespace coldtrace::cli
