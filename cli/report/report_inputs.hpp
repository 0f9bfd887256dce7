#pragma once

#include <string>
#include <vector>

namespace coldtrace::cli {

// The inputs of a page by what it makes of them.
struct ReportInputs {
  std::vector<std::string> traces;
  std::vector<std::string> disks;  // images, and snapshots of them
  std::vector<std::string> hook_tables;
};

// By their contents, also of packed files; pipes are traces, and what is neither a disk nor a hook
// table is for the reader of traces, which knows folders and pipes, and says what else a file is.
ReportInputs sort_report_inputs(const std::vector<std::string>& paths);

}  // namespace coldtrace::cli
