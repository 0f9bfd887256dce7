#pragma once

#include "cli/trace/analysis/waits/wait_names.hpp"
#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"

namespace coldtrace::cli {

// What `trace graph wait-for` shows; all references must outlive it.
struct WaitGraphAnswer {
  const TraceInput& input;
  const trace_analysis::Observed& observed;
  const SymbolNames& symbols;
  const trace_analysis::WaitEvidence& evidence;
  const trace_analysis::CodeNames& code;  // for the functions in the evidence
  const trace_analysis::WaitGraphView& view;
  const WaitNames& names;
};

void write_wait_graph_json(Output& output, Int64 int64, const WaitGraphAnswer& answer);
void write_wait_graph_text(Output& output, const WaitGraphAnswer& answer);

// "a critical section"
std::string_view wait_kind_text(trace_analysis::WaitKind kind);
// Its path, or a text that says so if its name is not known.
std::string_view waited_file_text(const trace_analysis::FileTable::File& file);

}  // namespace coldtrace::cli
