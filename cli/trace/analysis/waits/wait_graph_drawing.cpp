#include "cli/trace/analysis/waits/wait_graph_drawing.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/drawing/drawing_text.hpp"
#include "cli/trace/analysis/waits/wait_graph_layout.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::WaitGraph;
using trace_analysis::WaitGraphView;
using Node = WaitGraphView::Node;
using Edge = WaitGraphView::Edge;
using NodeKind = Node::Kind;
using EdgeKind = Edge::Kind;

std::string_view dot_style(const Edge& edge, bool is_open) {
  switch (edge.kind) {
    case EdgeKind::waits:
      return is_open ? ", color=\"#cc0000\", fontcolor=\"#cc0000\"" : "";
    case EdgeKind::request:
    case EdgeKind::file:
      return is_open ? ", color=\"#cc0000\", fontcolor=\"#cc0000\""
                     : ", color=\"#aa5500\", fontcolor=\"#aa5500\"";
    case EdgeKind::lock_owner:
    case EdgeKind::owner:
      return ", color=\"#1155cc\", fontcolor=\"#1155cc\", style=dashed";
    case EdgeKind::woken:
      return ", color=\"#777777\", fontcolor=\"#777777\", style=dotted";
    case EdgeKind::stated:
      return ", color=\"#118844\", fontcolor=\"#118844\"";
    case EdgeKind::wait_kind:
      return ", color=\"#7733aa\", fontcolor=\"#7733aa\", style=dotted";
  }
  return {};
}

}  // namespace

std::vector<std::string> WaitGraphLabels::lines(const View::Node& node) const {
  switch (node.kind) {
    case NodeKind::thread: {
      const auto& thread = population_.threads()[node.index];
      std::vector<std::string> lines{fmt::format("{:#010x}", thread.tid)};
      if (thread.process != trace_analysis::nobody)
        if (const auto& name = population_.processes()[thread.process].image_name; !name.empty())
          lines[0] += "  " + printable(name);
      if (thread.idle_of) lines[0] = fmt::format("idle of processor {}", *thread.idle_of);
      if (const auto function = names_.function(node.index); !function.empty())
        lines.push_back(printable(function));
      if (thread.object != 0) lines.push_back(fmt::format("{:#x}", thread.object));
      return lines;
    }
    case NodeKind::object: {
      const auto& object = graph_.objects().all()[node.index];
      return {WaitNames::kind(object), fmt::format("{:#x}", object.waited.address)};
    }
    case NodeKind::lock:
      return {"Lock", fmt::format("{:#x}", evidence_.locks.get().edges()[node.index].lock)};
    case NodeKind::disk: {
      const auto& edge = evidence_.requests.get().edges()[node.index];
      return {edge.disk ? fmt::format("Disk {}", *edge.disk) : "Disk",
              std::string{to_string(edge.action)}};
    }
    case NodeKind::file: {
      const auto& edge = evidence_.files.get().edges()[node.index];
      return {"File", printable(waited_file_text(evidence_.files.get().files()[edge.file]))};
    }
    case NodeKind::wait_kind:
      return {std::string{wait_kind_text(evidence_.kinds.get().edges()[node.index].kind)}};
    case NodeKind::interrupts:
      return {"interrupts, or unknown"};
    case NodeKind::more_threads:
      return {counted(node.count, "more thread", "more threads")};
    case NodeKind::more_objects:
      return {counted(node.count, "more object", "more objects")};
  }
  return {};
}

std::string WaitGraphLabels::likely_text(const trace_analysis::EndedWaits& ended,
                                         bool is_open) const {
  std::string text;
  if (ended.count > 0)
    text = fmt::format("{}x, {}", grouped(ended.count), names_.duration_text(ended.time));
  if (is_open) text += text.empty() ? "still waits" : ", still waits";
  return text;
}

std::string WaitGraphLabels::text(const View::Edge& edge) const {
  switch (edge.kind) {
    case EdgeKind::waits: {
      const auto& one = graph_.edges()[edge.index];
      return fmt::format("{}x{}{}", grouped(one.count),
                         one.measured > 0 ? ", " + names_.duration_text(one.total) : "",
                         one.open > 0 ? ", still waits" : "");
    }
    case EdgeKind::owner:
      return graph_.owners()[edge.index].strength == WaitGraph::Strength::proved ? "owner"
                                                                                 : "last owner";
    case EdgeKind::woken: {
      const auto& one = graph_.wakes().edges()[edge.index];
      return fmt::format("woken by {}x, {}", grouped(one.count), names_.duration_text(one.total));
    }
    case EdgeKind::stated: {
      const auto& one = evidence_.stated.get().edges()[edge.index];
      return one.kind == trace_analysis::StatedWaits::Kind::reply
                 ? fmt::format("reply, {}x{}", grouped(one.count),
                               one.timed > 0 ? ", " + names_.duration_text(one.time) : "")
                 : fmt::format("critical section {:#x}, {}x", one.lock, grouped(one.count));
    }
    case EdgeKind::lock_owner: {
      const auto& one = evidence_.locks.get().edges()[edge.index];
      return fmt::format("owner, boosted {}x", grouped(one.count));
    }
    case EdgeKind::request: {
      const auto& one = evidence_.requests.get().edges()[edge.index];
      return likely_text(one.ended, one.open_since.has_value());
    }
    case EdgeKind::file: {
      const auto& one = evidence_.files.get().edges()[edge.index];
      return fmt::format("{}, {}", to_string(one.action),
                         likely_text(one.ended, one.open_since.has_value()));
    }
    case EdgeKind::wait_kind:
      return likely_text(evidence_.kinds.get().edges()[edge.index].ended, false);
  }
  return {};
}

std::string WaitGraphLabels::brief_text(const View::Edge& edge) const {
  switch (edge.kind) {
    case EdgeKind::waits:
      return fmt::format("{}x", grouped(graph_.edges()[edge.index].count));
    case EdgeKind::owner:
      return text(edge);
    case EdgeKind::woken:
      return fmt::format("{}x", grouped(graph_.wakes().edges()[edge.index].count));
    case EdgeKind::stated:
      return fmt::format("{}x", grouped(evidence_.stated.get().edges()[edge.index].count));
    case EdgeKind::lock_owner:
      return fmt::format("{}x", grouped(evidence_.locks.get().edges()[edge.index].count));
    case EdgeKind::request:
      return fmt::format("{}x", grouped(evidence_.requests.get().edges()[edge.index].ended.count));
    case EdgeKind::file:
      return fmt::format("{}x", grouped(evidence_.files.get().edges()[edge.index].ended.count));
    case EdgeKind::wait_kind:
      return fmt::format("{}x", grouped(evidence_.kinds.get().edges()[edge.index].ended.count));
  }
  return {};
}

bool WaitGraphLabels::is_open(const View::Edge& edge) const {
  if (edge.kind == EdgeKind::request)
    return evidence_.requests.get().edges()[edge.index].open_since.has_value();
  if (edge.kind == EdgeKind::file)
    return evidence_.files.get().edges()[edge.index].open_since.has_value();
  return edge.kind == EdgeKind::waits && graph_.edges()[edge.index].open > 0;
}

void write_dot(Output& output, const WaitGraphView& view, const WaitGraphLabels& labels) {
  output.write(
      "digraph \"waits\" {\n"
      "  rankdir=LR\n"
      "  node [fontname=\"sans-serif\", fontsize=10]\n"
      "  edge [fontname=\"sans-serif\", fontsize=8]\n");
  if (view.nodes().empty()) print(output, "  label=\"{}\"\n", nothing_waited);
  const auto& nodes = view.nodes();
  for (u32 i = 0; i < nodes.size(); ++i) {
    std::string label;
    for (const auto& line : labels.lines(nodes[i]))
      label += (label.empty() ? "" : "\\n") + dot_text(line);
    const auto kind = nodes[i].kind;
    print(output, "  n{} [shape={}, label=\"{}\", style={}]\n", i,
          is_diamond(kind) ? "diamond" : "box", label,
          kind == NodeKind::thread ? "filled, fillcolor=\"#ffee99\""
          : is_diamond(kind)       ? "filled, fillcolor=\"#ddeeff\""
                                   : "dashed");
  }
  for (const auto& edge : view.edges())
    print(output, "  n{} -> n{} [label=\"{}\"{}]\n", edge.from, edge.to,
          dot_text(labels.text(edge)), dot_style(edge, labels.is_open(edge)));
  output.write("}\n");
}

}  // namespace coldtrace::cli
