#pragma once

#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/processes/thread_graph.hpp"

namespace coldtrace::cli {

// The labels of nodes: for a process its name and number, for a thread its number and function, and
// its process if that is not the one of the thread that started it.
class ThreadGraphLabels {
 public:
  // All must outlive it.
  ThreadGraphLabels(const trace_analysis::ThreadGraph& graph,
                    const trace_analysis::Population& population, const ThreadNames& names)
      : graph_{graph}, population_{population}, names_{names} {}

  std::vector<std::string> lines(const trace_analysis::ThreadGraph::Node& node) const;
  // Also the process of a thread, when they started and ended, how they ended, command lines.
  std::vector<std::string> details(const trace_analysis::ThreadGraph::Node& node) const;

 private:
  const trace_analysis::ThreadGraph& graph_;
  const trace_analysis::Population& population_;
  const ThreadNames& names_;
};

// For Graphviz.
void write_dot(Output& output, const trace_analysis::ThreadGraph& graph,
               const ThreadGraphLabels& labels);
// With its own layout: one line for each leaf, parents beside their children.
void write_svg(Output& output, const trace_analysis::ThreadGraph& graph,
               const ThreadGraphLabels& labels);

}  // namespace coldtrace::cli
