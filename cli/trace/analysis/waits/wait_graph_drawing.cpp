#include "cli/trace/analysis/waits/wait_graph_drawing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/drawing/drawing_text.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::WaitGraph;
using trace_analysis::WaitGraphView;
using Node = WaitGraphView::Node;
using Edge = WaitGraphView::Edge;
using NodeKind = Node::Kind;
using EdgeKind = Edge::Kind;

bool is_left(NodeKind kind) {
  return kind == NodeKind::thread || kind == NodeKind::more_threads;
}

bool is_diamond(NodeKind kind) {
  return kind == NodeKind::object || kind == NodeKind::lock || kind == NodeKind::disk ||
         kind == NodeKind::file || kind == NodeKind::wait_kind;
}

std::string joined(const std::vector<std::string>& lines, std::string_view separator) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : std::string{separator}) + line;
  return text;
}

// Two columns. An object lies where the threads that wait for it are, as far as there is room.
class Layout {
 public:
  explicit Layout(const WaitGraphView& view) : places_(view.nodes().size()) {
    const auto& nodes = view.nodes();
    std::vector<double> sum(nodes.size()), count(nodes.size());
    double y = margin;
    for (u32 i = 0; i < nodes.size(); ++i) {
      if (!is_left(nodes[i].kind)) continue;
      places_[i] = {column_of_threads + box_width / 2, y + row / 2, box_width / 2, box_height / 2};
      y += row;
    }
    bottom_ = y;
    for (const auto& edge : view.edges()) {
      if (is_left(nodes[edge.to].kind)) continue;
      sum[edge.to] += places_[edge.from].y;
      count[edge.to] += 1;
    }
    std::vector<u32> objects;
    for (u32 i = 0; i < nodes.size(); ++i)
      if (!is_left(nodes[i].kind)) objects.push_back(i);
    const auto wish = [&](u32 node) { return count[node] > 0 ? sum[node] / count[node] : bottom_; };
    std::stable_sort(objects.begin(), objects.end(),
                     [&](u32 a, u32 b) { return wish(a) < wish(b); });
    y = std::max(
        margin, margin + (bottom_ - margin - object_row * static_cast<double>(objects.size())) / 2);
    for (const auto node : objects) {
      places_[node] = {column_of_objects + diamond_width / 2, y + object_row / 2, diamond_width / 2,
                       diamond_height / 2};
      y += object_row;
    }
    bottom_ = std::max(bottom_, y);
  }

  struct Place {
    double x, y;  // of its centre
    double half_width, half_height;
  };
  const Place& at(u32 node) const { return places_[node]; }
  double width() const { return column_of_objects + diamond_width + margin; }
  double height() const { return bottom_ + margin; }

 private:
  static constexpr double margin = 20;
  static constexpr double row = 62;
  static constexpr double object_row = 84;
  static constexpr double column_of_threads = 110;  // arcs between threads lie to its left
  static constexpr double box_width = 210;
  static constexpr double box_height = 46;
  static constexpr double column_of_objects = 560;
  static constexpr double diamond_width = 270;
  static constexpr double diamond_height = 76;

  std::vector<Place> places_;
  double bottom_ = margin;
};

struct Stroke {
  std::string_view color;
  std::string_view dashes;  // empty: none
  std::string_view marker;
};

Stroke stroke_of(const Edge& edge, bool is_open) {
  switch (edge.kind) {
    case EdgeKind::waits:
      return is_open ? Stroke{"#cc0000", "", "open"} : Stroke{"#333333", "", "arrow"};
    case EdgeKind::request:
    case EdgeKind::file:
      return is_open ? Stroke{"#cc0000", "", "open"} : Stroke{"#aa5500", "", "request"};
    case EdgeKind::lock_owner:
    case EdgeKind::owner:
      return {"#1155cc", "6 3", "owner"};
    case EdgeKind::woken:
      return {"#777777", "2 3", "woken"};
    case EdgeKind::stated:
      return {"#118844", "", "stated"};
    case EdgeKind::wait_kind:
      return {"#7733aa", "1 3", "kind"};
  }
  return {};
}

void write_svg_edge(Output& output, const Layout& layout, const WaitGraphView& view,
                    const Edge& edge, const WaitGraphLabels& labels) {
  const auto& from = layout.at(edge.from);
  const auto& to = layout.at(edge.to);
  const bool between_threads =
      is_left(view.nodes()[edge.from].kind) && is_left(view.nodes()[edge.to].kind);
  const bool leftwards = between_threads || from.x > to.x;
  // Owner edges end a little lower than waits, so that both are seen.
  const bool owns = edge.kind == EdgeKind::owner || edge.kind == EdgeKind::lock_owner;
  const double shift = owns ? 10 : 0;
  const double start =
      between_threads || from.x > to.x ? from.x - from.half_width : from.x + from.half_width;
  const double end = between_threads ? to.x - to.half_width
                     : leftwards     ? to.x + to.half_width
                                     : to.x - to.half_width;
  const double reach = std::min(90.0, 30 + std::abs(to.y - from.y) / 6);
  const double first = between_threads ? start - reach : (start + end) / 2;
  const double second = between_threads ? end - reach : (start + end) / 2;
  const auto stroke = stroke_of(edge, labels.is_open(edge));
  print(output,
        "<g><title>{}</title><path d=\"M{} {}C{} {} {} {} {} {}\" fill=\"none\" stroke=\"{}\"{} "
        "marker-end=\"url(#{})\"/>",
        xml_text(labels.text(edge)), start, from.y + shift, first, from.y + shift, second,
        to.y + shift, end, to.y + shift, stroke.color,
        stroke.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes),
        stroke.marker);
  // Along the curve, where lines of one thread have parted; those of neighbours lie apart.
  const double along = between_threads ? 0.5 : 0.2 + 0.09 * static_cast<double>(edge.index % 4);
  const double rest = 1 - along;
  const double x = rest * rest * rest * start + 3 * rest * rest * along * first +
                   3 * rest * along * along * second + along * along * along * end;
  const double y = rest * rest * (rest + 3 * along) * (from.y + shift) +
                   along * along * (along + 3 * rest) * (to.y + shift);
  print(output,
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"9\" fill=\"{}\" "
        "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text></g>\n",
        x, y - 3, stroke.color, xml_text(labels.brief_text(edge)));
}

void write_svg_node(Output& output, const Layout::Place& at, const Node& node,
                    const std::vector<std::string>& lines) {
  print(output, "<g><title>{}</title>", xml_text(joined(lines, "\n")));
  if (is_diamond(node.kind))
    print(output,
          "<polygon points=\"{},{} {},{} {},{} {},{}\" fill=\"#ddeeff\" stroke=\"#333333\"/>",
          at.x - at.half_width, at.y, at.x, at.y - at.half_height, at.x + at.half_width, at.y, at.x,
          at.y + at.half_height);
  else
    print(output,
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#333333\"{}/>",
          at.x - at.half_width, at.y - at.half_height, 2 * at.half_width, 2 * at.half_height,
          node.kind == NodeKind::thread ? "#ffee99" : "#eeeeee",
          node.kind == NodeKind::thread ? "" : " stroke-dasharray=\"4 3\"");
  const double step = 13;
  double baseline = at.y + 4 - step * static_cast<double>(lines.size() - 1) / 2;
  for (const auto& line : lines) {
    print(output, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at.x, baseline,
          xml_text(fitted(line)));
    baseline += step;
  }
  output.write("</g>\n");
}

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
      return {"Lock", fmt::format("{:#x}", evidence_.locks.edges()[node.index].lock)};
    case NodeKind::disk: {
      const auto& edge = evidence_.requests.edges()[node.index];
      return {edge.disk ? fmt::format("Disk {}", *edge.disk) : "Disk",
              std::string{to_string(edge.action)}};
    }
    case NodeKind::file: {
      const auto& edge = evidence_.files.edges()[node.index];
      return {"File", printable(waited_file_text(evidence_.files.files()[edge.file]))};
    }
    case NodeKind::wait_kind:
      return {std::string{wait_kind_text(evidence_.kinds.edges()[node.index].kind)}};
    case NodeKind::interrupts:
      return {"interrupts, or not known"};
    case NodeKind::more_threads:
      return {fmt::format("{} more thread{}", node.count, node.count == 1 ? "" : "s")};
    case NodeKind::more_objects:
      return {fmt::format("{} more object{}", node.count, node.count == 1 ? "" : "s")};
  }
  return {};
}

std::string WaitGraphLabels::likely_text(const trace_analysis::EndedWaits& ended,
                                         bool is_open) const {
  std::string text;
  if (ended.count > 0) text = fmt::format("{}x, {}", ended.count, names_.seconds(ended.time));
  if (is_open) text += text.empty() ? "still waits" : ", still waits";
  return text;
}

std::string WaitGraphLabels::text(const View::Edge& edge) const {
  switch (edge.kind) {
    case EdgeKind::waits: {
      const auto& one = graph_.edges()[edge.index];
      return fmt::format("{}x{}{}", one.count,
                         one.measured > 0 ? ", " + names_.seconds(one.total) : "",
                         one.open > 0 ? ", still waits" : "");
    }
    case EdgeKind::owner:
      return graph_.owners()[edge.index].strength == WaitGraph::Strength::proved ? "owner"
                                                                                 : "last owner";
    case EdgeKind::woken: {
      const auto& one = graph_.wakes().edges()[edge.index];
      return fmt::format("woken by {}x, {}", one.count, names_.seconds(one.total));
    }
    case EdgeKind::stated: {
      const auto& one = evidence_.stated.edges()[edge.index];
      return one.kind == trace_analysis::StatedWaits::Kind::reply
                 ? fmt::format("reply, {}x{}", one.count,
                               one.timed > 0 ? ", " + names_.seconds(one.time) : "")
                 : fmt::format("critical section {:#x}, {}x", one.lock, one.count);
    }
    case EdgeKind::lock_owner: {
      const auto& one = evidence_.locks.edges()[edge.index];
      return fmt::format("owner, boosted {}x", one.count);
    }
    case EdgeKind::request: {
      const auto& one = evidence_.requests.edges()[edge.index];
      return likely_text(one.ended, one.open_since.has_value());
    }
    case EdgeKind::file: {
      const auto& one = evidence_.files.edges()[edge.index];
      return fmt::format("{}, {}", to_string(one.action),
                         likely_text(one.ended, one.open_since.has_value()));
    }
    case EdgeKind::wait_kind:
      return likely_text(evidence_.kinds.edges()[edge.index].ended, false);
  }
  return {};
}

std::string WaitGraphLabels::brief_text(const View::Edge& edge) const {
  switch (edge.kind) {
    case EdgeKind::waits:
      return fmt::format("{}x", graph_.edges()[edge.index].count);
    case EdgeKind::owner:
      return text(edge);
    case EdgeKind::woken:
      return fmt::format("{}x", graph_.wakes().edges()[edge.index].count);
    case EdgeKind::stated:
      return fmt::format("{}x", evidence_.stated.edges()[edge.index].count);
    case EdgeKind::lock_owner:
      return fmt::format("{}x", evidence_.locks.edges()[edge.index].count);
    case EdgeKind::request:
      return fmt::format("{}x", evidence_.requests.edges()[edge.index].ended.count);
    case EdgeKind::file:
      return fmt::format("{}x", evidence_.files.edges()[edge.index].ended.count);
    case EdgeKind::wait_kind:
      return fmt::format("{}x", evidence_.kinds.edges()[edge.index].ended.count);
  }
  return {};
}

bool WaitGraphLabels::is_open(const View::Edge& edge) const {
  if (edge.kind == EdgeKind::request)
    return evidence_.requests.edges()[edge.index].open_since.has_value();
  if (edge.kind == EdgeKind::file)
    return evidence_.files.edges()[edge.index].open_since.has_value();
  return edge.kind == EdgeKind::waits && graph_.edges()[edge.index].open > 0;
}

void write_dot(Output& output, const WaitGraphView& view, const WaitGraphLabels& labels) {
  output.write(
      "digraph \"waits\" {\n"
      "  rankdir=LR\n"
      "  node [fontname=\"sans-serif\", fontsize=10]\n"
      "  edge [fontname=\"sans-serif\", fontsize=8]\n");
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

void write_svg(Output& output, const WaitGraphView& view, const WaitGraphLabels& labels) {
  const Layout layout{view};
  print(output,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<title>Which threads waited for which objects</title>\n<defs>",
        layout.width(), layout.height());
  for (const auto& [name, color] : {std::pair{"arrow", "#333333"},
                                    {"open", "#cc0000"},
                                    {"owner", "#1155cc"},
                                    {"woken", "#777777"},
                                    {"stated", "#118844"},
                                    {"request", "#aa5500"},
                                    {"kind", "#7733aa"}})
    print(output,
          "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
          "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{}\"/></marker>",
          name, color);
  output.write("</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  const auto& nodes = view.nodes();
  for (const auto& edge : view.edges()) write_svg_edge(output, layout, view, edge, labels);
  for (u32 i = 0; i < nodes.size(); ++i)
    write_svg_node(output, layout.at(i), nodes[i], labels.lines(nodes[i]));
  output.write("</svg>\n");
}

}  // namespace coldtrace::cli
