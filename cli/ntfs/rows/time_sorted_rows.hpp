#pragma once

#include <string>
#include <string_view>

#include "cli/output/output.hpp"
#include "coldtrace/core/sorted_lines.hpp"

namespace coldtrace::cli {

// Passes rows of a format for which is_sorted_by_time() to the output. Throws Failure if its
// temporary files cannot be written or read.
class TimeSortedRows {
 public:
  // Adds keyed lines, as such a format writes them.
  void add(std::string_view lines);
  void write_to(Output& output);

 private:
  core::SortedLines lines_;
};

// The line with the column names; empty for a format that is not sorted.
std::string header_of_times(std::string_view format);

}  // namespace coldtrace::cli
