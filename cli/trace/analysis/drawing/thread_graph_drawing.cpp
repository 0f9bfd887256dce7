#include "cli/trace/analysis/drawing/thread_graph_drawing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/drawing/drawing_style.hpp"
#include "cli/trace/analysis/drawing/drawing_text.hpp"
#include "cli/trace/status.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::nobody;
using trace_analysis::ThreadGraph;
using Node = ThreadGraph::Node;
using Kind = Node::Kind;

// Whether a thread and its process have one parent.
bool lies_below_home(const ThreadGraph& graph, u32 node) {
  const auto home = graph.home_of(graph.nodes()[node]);
  return home != ThreadGraph::no_node && graph.nodes()[home].parent == graph.nodes()[node].parent;
}

// Where each node is drawn: a column for each step from a root, and a row for each leaf. The
// threads of a process that was started by the same thread follow it.
class Layout {
 public:
  explicit Layout(const ThreadGraph& graph) : row_(graph.nodes().size()) {
    column_.resize(row_.size());
    children_.resize(row_.size());
    const auto& nodes = graph.nodes();
    std::vector<std::vector<u32>> followers(nodes.size());
    for (u32 i = 0; i < nodes.size(); ++i)
      if (lies_below_home(graph, i)) followers[graph.home_of(nodes[i])].push_back(i);
    for (u32 i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent == ThreadGraph::no_node || lies_below_home(graph, i)) continue;
      auto& children = children_[nodes[i].parent];
      children.push_back(i);
      children.insert(children.end(), followers[i].begin(), followers[i].end());
    }
    for (u32 i = 0; i < nodes.size(); ++i)
      if (nodes[i].parent == ThreadGraph::no_node) place(i, 0);
  }

  double x(u32 node) const { return 20 + column_[node] * 260.0; }
  double y(u32 node) const { return 20 + row_[node] * 46.0; }
  double width() const { return 40 + columns_ * 260.0; }
  double height() const { return 40 + next_row_ * 46.0; }

 private:
  void place(u32 node, u32 column) {
    column_[node] = column;
    columns_ = std::max(columns_, column + 1);
    if (children_[node].empty()) {
      row_[node] = next_row_++;
      return;
    }
    for (const auto child : children_[node]) place(child, column + 1);
    row_[node] = row_[children_[node].front()];
  }

  std::vector<double> row_;
  std::vector<u32> column_;
  std::vector<std::vector<u32>> children_;
  u32 columns_ = 0;
  double next_row_ = 0;
};

constexpr std::string_view nobody_there = "No event of the trace shows processes or threads.";
constexpr double least_width = 340, least_height = 60;
constexpr double node_width = 210;
constexpr double node_height = 36;

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void write_svg_node(Output& output, const Layout& layout, u32 number, const Node& node,
                    const ThreadGraphLabels& labels) {
  const auto lines = labels.lines(node);
  const double x = layout.x(number);
  const double y = layout.y(number);
  print(output, "<g><title>{}</title>", xml_text(joined(labels.details(node))));
  if (node.kind == Kind::process)
    print(output,
          "<ellipse cx=\"{}\" cy=\"{}\" rx=\"{}\" ry=\"{}\" fill=\"#ffffff\" stroke=\"#333333\"/>",
          x + node_width / 2, y + node_height / 2, node_width / 2, node_height / 2);
  else
    print(output,
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#333333\"{}/>",
          x, y, node_width, node_height, node.kind == Kind::thread ? "#ffee99" : "#eeeeee",
          node.kind == Kind::thread ? "" : " stroke-dasharray=\"4 3\"");
  const double step = 14;
  double baseline = y + node_height / 2 + 4 - step * static_cast<double>(lines.size() - 1) / 2;
  for (const auto& line : lines) {
    print(output, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x + node_width / 2,
          baseline, xml_text(fitted(line)));
    baseline += step;
  }
  output.write("</g>\n");
}

// From the side of a parent to that of its child; all of one parent have the same upright part.
void write_svg_edge(Output& output, const Layout& layout, u32 from, u32 to) {
  const double start = layout.x(from) + node_width;
  const double end = layout.x(to);
  const double middle = (start + end) / 2;
  const double from_y = layout.y(from) + node_height / 2;
  const double to_y = layout.y(to) + node_height / 2;
  print(output,
        "<path d=\"M{} {}H{}V{}H{}\" fill=\"none\" stroke=\"#333333\" "
        "marker-end=\"url(#arrow)\"/>\n",
        start, from_y, middle, to_y, end);
}

// Between the centres of a process and of a thread below it that runs in it; the nodes lie above.
void write_svg_home(Output& output, const Layout& layout, u32 home, u32 thread) {
  print(output,
        "<path d=\"M{} {}L{} {}\" fill=\"none\" stroke=\"#333333\" "
        "stroke-dasharray=\"2 3\"/>\n",
        layout.x(home) + node_width / 2, layout.y(home) + node_height / 2,
        layout.x(thread) + node_width / 2, layout.y(thread) + node_height / 2);
}

}  // namespace

std::vector<std::string> ThreadGraphLabels::lines(const Node& node) const {
  switch (node.kind) {
    case Kind::process: {
      const auto& process = population_.processes()[node.index];
      return {process.image_name.empty() ? "process" : printable(process.image_name),
              fmt::format("{:#010x}", process.pid)};
    }
    case Kind::thread: {
      const auto& thread = population_.threads()[node.index];
      const auto function = names_.function(node.index);
      std::vector<std::string> lines{fmt::format("{:#010x}", thread.tid)};
      if (graph_.home_of(node) != ThreadGraph::no_node)
        lines[0] += fmt::format(" in {:#010x}", population_.processes()[thread.process].pid);
      if (thread.idle_of) lines[0] = fmt::format("idle of processor {}", *thread.idle_of);
      if (!function.empty()) lines.push_back(printable(function));
      return lines;
    }
    case Kind::more_threads:
      return {counted(node.count, "more thread", "more threads")};
    case Kind::more_processes:
      return {counted(node.count, "more process", "more processes")};
  }
  return {};
}

std::vector<std::string> ThreadGraphLabels::details(const Node& node) const {
  auto details = lines(node);
  const auto add_life = [&](const trace_analysis::Lifetime& life, std::optional<u32> exit) {
    if (life.start || life.end)
      details.push_back(fmt::format("{} to {}",
                                    life.start ? names_.since_start(*life.start) : "before",
                                    life.end ? names_.since_start(*life.end) : "after"));
    if (life.end && exit) details.push_back("exit " + exit_status_text(*exit));
  };
  if (node.kind == Kind::process) {
    const auto& process = population_.processes()[node.index];
    add_life(process.life, process.exit_status);
    if (!process.command_line.empty()) details.push_back(printable(process.command_line));
  } else if (node.kind == Kind::thread) {
    const auto& thread = population_.threads()[node.index];
    if (thread.process != nobody && !thread.idle_of)
      details.push_back("of " + names_.process(thread.process));
    add_life(thread.life, thread.exit_status);
  }
  return details;
}

void write_dot(Output& output, const ThreadGraph& graph, const ThreadGraphLabels& labels) {
  output.write(
      "digraph \"processes and threads\" {\n"
      "  rankdir=LR\n"
      "  node [fontname=\"sans-serif\", fontsize=10]\n");
  if (graph.nodes().empty()) print(output, "  label=\"{}\"\n", nobody_there);
  const auto& nodes = graph.nodes();
  for (u32 i = 0; i < nodes.size(); ++i) {
    std::string label;
    for (const auto& line : labels.lines(nodes[i]))
      label += (label.empty() ? "" : "\\n") + dot_text(line);
    const auto kind = nodes[i].kind;
    std::string tooltip;
    for (const auto& line : labels.details(nodes[i]))
      tooltip += (tooltip.empty() ? "" : "\\n") + dot_text(line);
    print(output, "  n{} [shape={}, label=\"{}\", tooltip=\"{}\"{}]\n", i,
          kind == Kind::process ? "ellipse" : "box", label, tooltip,
          kind == Kind::thread    ? ", style=filled, fillcolor=\"#ffee99\""
          : kind == Kind::process ? ""
                                  : ", style=dashed");
  }
  for (u32 i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent != ThreadGraph::no_node)
      print(output, "  n{} -> n{}\n", nodes[i].parent, i);
    if (const auto home = graph.home_of(nodes[i]); home != ThreadGraph::no_node)
      print(output, "  n{} -> n{} [style=dotted, arrowhead=none]\n", home, i);
  }
  output.write("}\n");
}

void write_svg(Output& output, const ThreadGraph& graph, const ThreadGraphLabels& labels) {
  const Layout layout{graph};
  print(output,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\" {2}>\n"
        "<title>Processes and threads, and who started them</title>\n{3}"
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        std::max(layout.width(), least_width), std::max(layout.height(), least_height),
        drawing_class, drawing_head(DrawingPlace::file));
  if (graph.nodes().empty()) print(output, "<text x=\"20\" y=\"34\">{}</text>\n", nobody_there);
  const auto& nodes = graph.nodes();
  for (u32 i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent != ThreadGraph::no_node) write_svg_edge(output, layout, nodes[i].parent, i);
    if (lies_below_home(graph, i)) write_svg_home(output, layout, graph.home_of(nodes[i]), i);
  }
  for (u32 i = 0; i < nodes.size(); ++i) write_svg_node(output, layout, i, nodes[i], labels);
  output.write("</svg>\n");
}

}  // namespace coldtrace::cli
