#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"

namespace coldtrace::cli {

// The inputs of a page, by what it shows of them.
struct ReportInputs {
  std::vector<GivenInput> traces;
  std::vector<GivenInput> disks;  // images and snapshots
  std::vector<GivenInput> hook_tables;
};

// Sorts the inputs by their contents, also those of packed files. A pipe, which can be read only
// once, goes to a temporary file of at most `limit` bytes, or 64 GiB; one with more, or that cannot
// be read, is left out, which `report` says. What is neither a disk nor a hook table is left to the
// reader of traces, which knows folders and says what other files are.
ReportInputs sort_report_inputs(const std::vector<std::string>& paths, std::optional<u64> limit,
                                Report& report);

}  // namespace coldtrace::cli
