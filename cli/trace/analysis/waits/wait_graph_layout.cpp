#include "cli/trace/analysis/waits/wait_graph_layout.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace coldtrace::cli {
namespace {

using trace_analysis::WaitGraphView;
using Node = WaitGraphView::Node;
using Edge = WaitGraphView::Edge;
using NodeKind = Node::Kind;
using EdgeKind = Edge::Kind;

constexpr double margin = 20;
constexpr double gap = 16;                 // between boxes
constexpr double column_of_threads = 110;  // arcs between threads lie to its left
constexpr double box_width = 210;
constexpr double box_height = 46;
constexpr double port_step = 12;  // a line and its label
constexpr double column_of_objects = 560;
constexpr double object_row = 84;
constexpr double diamond_width = 270;
constexpr double diamond_height = 76;

bool is_left(NodeKind kind) {
  return kind == NodeKind::thread || kind == NodeKind::more_threads;
}

bool is_arc(const WaitGraphView& view, const Edge& edge) {
  return is_left(view.nodes()[edge.from].kind) && is_left(view.nodes()[edge.to].kind);
}

}  // namespace

bool is_diamond(NodeKind kind) {
  return kind == NodeKind::object || kind == NodeKind::lock || kind == NodeKind::disk ||
         kind == NodeKind::file || kind == NodeKind::wait_kind;
}

WaitGraphLayout::WaitGraphLayout(const View& view)
    : places_(view.nodes().size()), lines_(view.edges().size()), bottom_{margin} {
  width_ = column_of_threads + box_width + margin;
  place_threads(view);
  place_objects(view);
  place_lines(view);
  bottom_ += margin;
}

void WaitGraphLayout::place_threads(const View& view) {
  const auto& nodes = view.nodes();
  struct Ends {
    unsigned left = 0, right = 0;
  };
  std::vector<Ends> ends(nodes.size());
  for (const auto& edge : view.edges())
    for (const auto node : {edge.from, edge.to})
      ++(is_arc(view, edge) ? ends[node].left : ends[node].right);
  for (u32 i = 0; i < nodes.size(); ++i) {
    if (!is_left(nodes[i].kind)) continue;
    const double height =
        std::max(box_height, port_step * (std::max(ends[i].left, ends[i].right) + 0.5));
    places_[i] = {column_of_threads + box_width / 2, bottom_ + height / 2, box_width / 2,
                  height / 2};
    bottom_ += height + gap;
  }
}

void WaitGraphLayout::place_objects(const View& view) {
  const auto& nodes = view.nodes();
  std::vector<double> sum(nodes.size()), count(nodes.size());
  for (const auto& edge : view.edges()) {
    if (is_left(nodes[edge.to].kind)) continue;
    sum[edge.to] += places_[edge.from].y;
    count[edge.to] += 1;
  }
  std::vector<u32> objects;
  for (u32 i = 0; i < nodes.size(); ++i)
    if (!is_left(nodes[i].kind)) objects.push_back(i);
  if (objects.empty()) return;
  width_ = column_of_objects + diamond_width + margin;
  const auto wish = [&](u32 node) { return count[node] > 0 ? sum[node] / count[node] : bottom_; };
  std::stable_sort(objects.begin(), objects.end(), [&](u32 a, u32 b) { return wish(a) < wish(b); });
  double y = std::max(
      margin, margin + (bottom_ - margin - object_row * static_cast<double>(objects.size())) / 2);
  for (const auto node : objects) {
    places_[node] = {column_of_objects + diamond_width / 2, y + object_row / 2, diamond_width / 2,
                     diamond_height / 2};
    y += object_row;
  }
  bottom_ = std::max(bottom_, y);
}

void WaitGraphLayout::place_lines(const View& view) {
  const auto& nodes = view.nodes();
  std::vector<Port> arcs, others;
  double longest_arc = 1;
  for (std::size_t i = 0; i < view.edges().size(); ++i) {
    const auto& edge = view.edges()[i];
    const auto& from = places_[edge.from];
    const auto& to = places_[edge.to];
    auto& line = lines_[i];
    line.is_arc = is_arc(view, edge);
    // Lines to an object meet in its left corner, those from it to its owner begin below.
    line.start = {from.x - from.half_width / 2, from.y + from.half_height / 2};
    line.end = {to.x - to.half_width, to.y};
    auto& ports = line.is_arc ? arcs : others;
    if (is_left(nodes[edge.from].kind)) ports.push_back({edge.from, i, true, to.y});
    if (is_left(nodes[edge.to].kind)) ports.push_back({edge.to, i, false, from.y});
    if (line.is_arc) longest_arc = std::max(longest_arc, std::abs(from.y - to.y));
  }
  place_ports(arcs, true);
  place_ports(others, false);
  for (auto& line : lines_) bend(line, longest_arc);
}

// Those of one box in the order in which their lines do not cross: of arcs that go up the shortest
// one is at the top, of those that go down at the bottom.
void WaitGraphLayout::place_ports(std::vector<Port>& ports, bool are_arcs) {
  std::ranges::stable_sort(ports, {}, [&](const Port& port) {
    const bool down = are_arcs && port.other > places_[port.node].y;
    return std::tuple{port.node, down, are_arcs ? -port.other : port.other};
  });
  for (std::size_t i = 0; i < ports.size();) {
    std::size_t end = i;
    while (end < ports.size() && ports[end].node == ports[i].node) ++end;
    const auto& box = places_[ports[i].node];
    double y = box.y - port_step * static_cast<double>(end - i - 1) / 2;
    for (; i < end; ++i, y += port_step) {
      auto& line = lines_[ports[i].edge];
      (ports[i].is_start ? line.start : line.end) = {
          are_arcs ? box.x - box.half_width : box.x + box.half_width, y};
      // An arrowhead is at the end.
      constexpr double beside_start = 5, beside_end = 11;
      const double beside = ports[i].is_start ? beside_start : beside_end;
      if (!are_arcs || ports[i].is_start)
        line.label = {are_arcs ? box.x - box.half_width - beside : box.x + box.half_width + beside,
                      y - 2};
    }
  }
}

void WaitGraphLayout::bend(Line& line, double longest_arc) const {
  constexpr double least_reach = 30, reach = 75;
  double start_x = (line.start.x + line.end.x) / 2;
  double end_x = start_x;
  if (line.is_arc) {
    const double out =
        least_reach + reach * std::min(1.0, std::abs(line.end.y - line.start.y) / longest_arc);
    start_x = line.start.x - out;
    end_x = line.end.x - out;
  }
  line.first_control = {start_x, line.start.y};
  line.second_control = {end_x, line.end.y};
}

}  // namespace coldtrace::cli
