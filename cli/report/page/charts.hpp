#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/report/page/html.hpp"
#include "coldtrace/trace_analysis/records/histogram.hpp"

namespace coldtrace::cli {

// How much of something there was over time, as the area below a line and as a table.
struct AreaChart {
  // Units of 100 ns. The last one ends with the chart, and may be shorter than the others.
  struct Step {
    i64 begin;
    i64 value;
    i64 most;  // the full height
  };
  std::string_view id;
  std::string title;
  std::vector<Step> steps;
  i64 end = 0;
  std::string_view table_title;
};
void write_area_chart(Html& html, const AreaChart& chart);

// Numbers along an axis, as an area.
struct Strip {
  std::string title;
  std::vector<i64> values;
  i64 most = 0;                 // the full height
  std::string from, to;         // of the axis
  std::string attributes = {};  // of the figure, for the script: the program's own markup
};
void write_strip(Html& html, const Strip& strip);

// Bars of a histogram, on a scale of powers of two from its least to its greatest step; small
// enough for a cell. Empty if there is nothing.
std::string histogram_drawing(const std::vector<trace_analysis::Histogram::Step>& steps,
                              std::string_view label);

}  // namespace coldtrace::cli
