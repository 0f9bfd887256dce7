#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/report/page/html.hpp"
#include "coldtrace/trace_analysis/records/histogram.hpp"

namespace coldtrace::cli {

// An amount over time, as an area below a line and as a table.
struct AreaChart {
  // Units of 100 ns. The last one ends with the chart, and may be shorter than the others.
  struct Step {
    i64 begin;
    i64 value;
    i64 most;  // what fills it
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
  i64 most = 0;                 // the number that fills the height
  std::string from, to;         // of the axis
  std::string attributes = {};  // of the figure, for the script: the program's own markup
};
void write_strip(Html& html, const Strip& strip);

// The bars of a histogram, on a scale of powers of two from its smallest to its greatest step;
// small enough for a cell. Empty if there is nothing.
std::string histogram_drawing(const std::vector<trace_analysis::Histogram::Step>& steps,
                              std::string_view label);

}  // namespace coldtrace::cli
