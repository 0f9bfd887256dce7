#pragma once

#include <vector>

#include "cli/output/output.hpp"
#include "cli/output/text_charts.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::cli {

struct KindsShown {
  bool by_count = true;  // those with the most events first; else by provider and number
  u64 top = 20;          // providers, and kinds of each
};

// The number of all events, and a table of providers with the kinds of their events below them: how
// many there are, and how many of these are fully decoded. What is not shown is summed up.
// `schemas`, if any, tell the files and providers of messages.
void write_kinds_text(Output& output, const TextCharts& charts, u64 events,
                      const std::vector<tracefile::KindCount>& kinds, const TraceSchemas* schemas,
                      const KindsShown& shown);

}  // namespace coldtrace::cli
