#pragma once

#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/processes/thread_graph.hpp"

namespace coldtrace::cli {

// What a node says: a process its name and number, a thread its number and function.
class ThreadGraphLabels {
 public:
  ThreadGraphLabels(const trace_analysis::Population& population, const ThreadNames& names)
      : population_{population}, names_{names} {}

  std::vector<std::string> lines(const trace_analysis::ThreadGraph::Node& node) const;

 private:
  const trace_analysis::Population& population_;
  const ThreadNames& names_;
};

// For Graphviz.
void write_dot(Output& output, const trace_analysis::ThreadGraph& graph,
               const ThreadGraphLabels& labels);
// Laid out here: one line for each leaf, parents beside their children.
void write_svg(Output& output, const trace_analysis::ThreadGraph& graph,
               const ThreadGraphLabels& labels);

}  // namespace coldtrace::cli
