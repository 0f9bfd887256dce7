#pragma once

#include <vector>

#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"

namespace coldtrace::cli {

// Whether a node is drawn as a diamond: whatever can be waited for, except threads.
bool is_diamond(trace_analysis::WaitGraphView::Node::Kind kind);

// The layout of a wait-for graph: threads in a column on the left, everything else in one on the
// right. An object is placed level with the threads that wait for it, as far as there is room. Each
// line has its own place at a thread's box, which is high enough for all of them, so that their
// labels do not overlap; lines between threads are arcs on the left.
class WaitGraphLayout {
 public:
  using View = trace_analysis::WaitGraphView;

  explicit WaitGraphLayout(const View& view);

  struct Place {
    double x, y;  // of its centre
    double half_width, half_height;
  };
  struct Point {
    double x, y;
  };
  // A curve from one node to another, and where its label begins or, for an arc, ends.
  struct Line {
    Point start, first_control, second_control, end, label;
    bool is_arc;
  };
  const Place& at(u32 node) const { return places_[node]; }
  const Line& line(std::size_t edge) const { return lines_[edge]; }
  double width() const { return width_; }
  double height() const { return bottom_; }

 private:
  // One end of an edge at the box of a thread.
  struct Port {
    u32 node;
    std::size_t edge;
    bool is_start;
    double other;  // the height of the other end
  };

  void place_threads(const View& view);
  void place_objects(const View& view);
  void place_lines(const View& view);
  void place_ports(std::vector<Port>& ports, bool are_arcs);
  void bend(Line& line, double longest_arc) const;

  std::vector<Place> places_;
  std::vector<Line> lines_;
  double width_ = 0, bottom_ = 0;
};

}  // namespace coldtrace::cli
