#pragma once

#include "cli/output/output.hpp"
#include "cli/trace/analysis/drawing/drawing_style.hpp"
#include "cli/trace/analysis/waits/wait_graph_answer.hpp"

namespace coldtrace::cli {

// The labels of nodes and edges in a wait-for graph: for a thread its id, function and the address
// of its object, for an object its type and address.
class WaitGraphLabels {
 public:
  using View = trace_analysis::WaitGraphView;

  // The answer must outlive the labels.
  explicit WaitGraphLabels(const WaitGraphAnswer& answer)
      : evidence_{answer.evidence},
        graph_{answer.evidence.graph.get()},
        population_{answer.observed.population},
        names_{answer.names} {}

  std::vector<std::string> lines(const View::Node& node) const;
  // "20x, 0.0012345 s"
  std::string text(const View::Edge& edge) const;
  // "20x", for lack of room
  std::string brief_text(const View::Edge& edge) const;
  bool is_open(const View::Edge& edge) const;

 private:
  std::string likely_text(const trace_analysis::EndedWaits& ended, bool is_open) const;

  const trace_analysis::WaitEvidence& evidence_;
  const trace_analysis::WaitGraph& graph_;
  const trace_analysis::Population& population_;
  const WaitNames& names_;
};

// The text of a drawing without nodes.
constexpr std::string_view nothing_waited = "No event of the trace shows waits.";

// For Graphviz.
void write_dot(Output& output, const trace_analysis::WaitGraphView& view,
               const WaitGraphLabels& labels);
// With its own layout and a legend: threads on the left, objects on the right.
void write_svg(Output& output, const trace_analysis::WaitGraphView& view,
               const WaitGraphLabels& labels, DrawingPlace place = DrawingPlace::file);

}  // namespace coldtrace::cli
