#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"

namespace coldtrace::cli {

// The inputs of a page, by kind.
struct ReportInputs {
  std::vector<GivenInput> traces;
  std::vector<GivenInput> disks;  // images and snapshots
  std::vector<GivenInput> hook_tables;
};

// Sorts them by their contents, also those of packed files. Each pipe is read once, into a
// temporary file of at most `limit` bytes or 64 GiB; one with more, or that cannot be read, is left
// out with a report. What is neither a disk nor a hook table is left to the reader of traces, which
// handles folders and says what else a file is.
ReportInputs sort_report_inputs(const std::vector<std::string>& paths, std::optional<u64> limit,
                                Report& report);

}  // namespace coldtrace::cli
