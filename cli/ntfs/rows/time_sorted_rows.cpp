#include "cli/ntfs/rows/time_sorted_rows.hpp"

#include "cli/command/report.hpp"
#include "cli/ntfs/rows/keyed_lines.hpp"
#include "cli/ntfs/rows/l2tcsv_text.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"

namespace coldtrace::cli {
namespace {

void check_sort(const core::Result<core::Done>& result) {
  if (!result) throw Failure{"sorting by time: " + to_message(result.error())};
}

}  // namespace

void TimeSortedRows::add(std::string_view lines) {
  each_keyed_line(lines,
                  [&](u64 time, std::string_view line) { check_sort(lines_.add(time, line)); });
}

std::string header_of_times(std::string_view format) {
  if (format == "timeline") return timeline_header();
  return std::string{format == "l2tcsv" ? l2tcsv_header() : ""};
}

void TimeSortedRows::write_to(Output& output) {
  check_sort(lines_.take([&](std::string_view line) { output.write(line); }));
}

}  // namespace coldtrace::cli
