#pragma once

#include "cli/output/output.hpp"
#include "coldtrace/trace_analysis/function_names.hpp"
#include "coldtrace/trace_analysis/thread_graph.hpp"

namespace coldtrace::cli {

// What a node says: a process its name and number, a thread its number and function.
class ThreadGraphLabels {
 public:
  ThreadGraphLabels(const trace_analysis::Population& population,
                    const trace_analysis::FunctionNames& functions, i64 first)
      : population_{population}, functions_{functions}, first_{first} {}

  std::vector<std::string> lines(const trace_analysis::ThreadGraph::Node& node) const;

  // Of a thread; empty where nothing is known.
  std::string function_of(const trace_analysis::Thread& thread) const;

 private:
  const trace_analysis::Population& population_;
  const trace_analysis::FunctionNames& functions_;
  i64 first_;  // time of what was there before the trace
};

// For Graphviz.
void write_dot(Output& output, const trace_analysis::ThreadGraph& graph,
               const ThreadGraphLabels& labels);
// Laid out here: one line for each leaf, parents beside their children.
void write_svg(Output& output, const trace_analysis::ThreadGraph& graph,
               const ThreadGraphLabels& labels);

}  // namespace coldtrace::cli
