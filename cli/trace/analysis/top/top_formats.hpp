#pragma once

#include "cli/output/text_charts.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "cli/trace/analysis/services/service_names.hpp"
#include "cli/trace/analysis/top/top_sections.hpp"
#include "coldtrace/trace_analysis/processors/time_bins.hpp"
#include "coldtrace/trace_analysis/top/top_page.hpp"

namespace coldtrace::cli {

using trace_analysis::TopAnswers;
using trace_analysis::TopPage;
using trace_analysis::TopRows;

// What both renderings of a page need.
struct TopContext {
  const TraceInput& input;
  const trace_analysis::Observation& observation;
  const TopAnswers& answers;
  const TopPage& page;
};

// What to draw beside the text, and on what.
struct TopCharts {
  const TextCharts& charts;
  const trace_analysis::TimeBins* busy;  // of all processors together; null: not shown
  std::size_t columns;  // of a terminal, on which longer lines go on below; 0: there is none
};

std::string top_text(const TopContext& context, const TopCharts& charts);
void write_top_json(Output& output, const TopContext& context, Int64 int64);

}  // namespace coldtrace::cli
