#pragma once

#include "cli/output/output.hpp"
#include "cli/trace/analysis/waits/wait_names.hpp"
#include "coldtrace/trace_analysis/wait_graph_view.hpp"

namespace coldtrace::cli {

// What nodes and edges of a wait-for graph say: a thread its id, function and the address of its
// object, an object its type and address.
class WaitGraphLabels {
 public:
  using View = trace_analysis::WaitGraphView;

  // All must outlive it.
  WaitGraphLabels(const trace_analysis::WaitEvidence& evidence,
                  const trace_analysis::Population& population, const WaitNames& names)
      : evidence_{evidence}, graph_{evidence.graph}, population_{population}, names_{names} {}

  std::vector<std::string> lines(const View::Node& node) const;
  // "20x, 0.0012345 s"
  std::string text(const View::Edge& edge) const;
  // "20x", where there is little room
  std::string brief_text(const View::Edge& edge) const;
  bool is_open(const View::Edge& edge) const;

 private:
  const trace_analysis::WaitEvidence& evidence_;
  const trace_analysis::WaitGraph& graph_;
  const trace_analysis::Population& population_;
  const WaitNames& names_;
};

// For Graphviz.
void write_dot(Output& output, const trace_analysis::WaitGraphView& view,
               const WaitGraphLabels& labels);
// Laid out here: threads on the left, objects on the right.
void write_svg(Output& output, const trace_analysis::WaitGraphView& view,
               const WaitGraphLabels& labels);

}  // namespace coldtrace::cli
