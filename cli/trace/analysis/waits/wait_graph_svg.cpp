#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/drawing/drawing_text.hpp"
#include "cli/trace/analysis/waits/wait_graph_drawing.hpp"
#include "cli/trace/analysis/waits/wait_graph_layout.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::WaitGraphView;
using Node = WaitGraphView::Node;
using NodeKind = Node::Kind;
using EdgeKind = WaitGraphView::Edge::Kind;

// How lines of one meaning look; `name` is that of their arrowhead.
struct Stroke {
  std::string_view name, color, dashes, meaning;
};
constexpr std::array strokes{
    Stroke{"arrow", "#333333", "", "waited for"},
    Stroke{"open", "#cc0000", "", "waits to the end of the trace"},
    Stroke{"owner", "#1155cc", "6 3", "to its owner, or the last known one"},
    Stroke{"woken", "#666666", "2 3", "was woken by; what it waited for is unknown"},
    Stroke{"stated", "#118844", "", "waited for its reply, or contended for its critical section"},
    Stroke{"request", "#aa5500", "", "waited for a request, by its times"},
    Stroke{"kind", "#7733aa", "1 3", "waited for one of this kind, by its stack"},
};

const Stroke& stroke_of(EdgeKind kind, bool is_open) {
  switch (kind) {
    case EdgeKind::waits:
      return strokes[is_open ? 1 : 0];
    case EdgeKind::request:
    case EdgeKind::file:
      return strokes[is_open ? 1 : 5];
    case EdgeKind::lock_owner:
    case EdgeKind::owner:
      return strokes[2];
    case EdgeKind::woken:
      return strokes[3];
    case EdgeKind::stated:
      return strokes[4];
    case EdgeKind::wait_kind:
      return strokes[6];
  }
  return strokes[0];
}

std::string dashes_of(const Stroke& stroke) {
  return stroke.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
}

constexpr double legend_row = 18;

class Drawing {
 public:
  Drawing(Output& output, const WaitGraphView& view, const WaitGraphLabels& labels,
          DrawingPlace place)
      : output_{output}, view_{view}, labels_{labels}, place_{place}, layout_{view} {
    for (const auto& edge : view.edges())
      used_[static_cast<std::size_t>(&stroke_of(edge.kind, labels.is_open(edge)) -
                                     strokes.data())] = true;
  }

  void write() {
    const auto rows = static_cast<double>(std::ranges::count(used_, true));
    const double legend = view_.nodes().empty() ? legend_row : legend_row * rows;
    print(output_,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
          "{0} {1}\" font-family=\"sans-serif\" font-size=\"11\" {2}>\n"
          "<title>Which threads waited for which objects</title>\n{3}<defs>",
          std::max(layout_.width(), legend_width), layout_.height() + legend, drawing_class,
          drawing_head(place_));
    for (const auto& stroke : strokes)
      print(output_,
            "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
            "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{}\"/></marker>",
            stroke.name, stroke.color);
    output_.write("</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    if (view_.nodes().empty())
      print(output_, "<text x=\"20\" y=\"34\">{}</text>\n", nothing_waited);
    for (std::size_t i = 0; i < view_.edges().size(); ++i) write_edge(i);
    for (u32 i = 0; i < view_.nodes().size(); ++i) write_node(i);
    write_legend();
    output_.write("</svg>\n");
  }

 private:
  static constexpr double legend_width = 420;

  void write_edge(std::size_t number) {
    const auto& edge = view_.edges()[number];
    const auto& line = layout_.line(number);
    const auto& stroke = stroke_of(edge.kind, labels_.is_open(edge));
    print(output_,
          "<g><title>{}</title><path d=\"M{} {}C{} {} {} {} {} {}\" fill=\"none\" stroke=\"{}\"{} "
          "marker-end=\"url(#{})\"/>",
          xml_text(labels_.text(edge)), line.start.x, line.start.y, line.first_control.x,
          line.first_control.y, line.second_control.x, line.second_control.y, line.end.x,
          line.end.y, stroke.color, dashes_of(stroke), stroke.name);
    print(output_,
          "<text x=\"{}\" y=\"{}\"{} font-size=\"9\" fill=\"{}\" stroke=\"#ffffff\" "
          "stroke-width=\"3\" paint-order=\"stroke\">{}</text></g>\n",
          line.label.x, line.label.y, line.is_arc ? " text-anchor=\"end\"" : "", stroke.color,
          xml_text(labels_.brief_text(edge)));
  }

  void write_node(u32 number) {
    const auto& node = view_.nodes()[number];
    const auto& at = layout_.at(number);
    const auto lines = labels_.lines(node);
    std::string title;
    for (const auto& line : lines) title += (title.empty() ? "" : "\n") + line;
    print(output_, "<g><title>{}</title>", xml_text(title));
    if (is_diamond(node.kind))
      print(output_,
            "<polygon points=\"{},{} {},{} {},{} {},{}\" fill=\"#ddeeff\" stroke=\"#333333\"/>",
            at.x - at.half_width, at.y, at.x, at.y - at.half_height, at.x + at.half_width, at.y,
            at.x, at.y + at.half_height);
    else
      print(output_,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#333333\"{}/>",
            at.x - at.half_width, at.y - at.half_height, 2 * at.half_width, 2 * at.half_height,
            node.kind == NodeKind::thread ? "#ffee99" : "#eeeeee",
            node.kind == NodeKind::thread ? "" : " stroke-dasharray=\"4 3\"");
    constexpr double step = 13;
    double baseline = at.y + 4 - step * static_cast<double>(lines.size() - 1) / 2;
    for (const auto& line : lines) {
      print(output_, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at.x, baseline,
            xml_text(node.kind == NodeKind::file ? fitted_path(line) : fitted(line)));
      baseline += step;
    }
    output_.write("</g>\n");
  }

  // What the lines that there are mean.
  void write_legend() {
    double y = layout_.height() + legend_row / 2 - 8;
    for (std::size_t i = 0; i < strokes.size(); ++i) {
      if (!used_[i]) continue;
      print(output_,
            "<path d=\"M20 {0}h40\" stroke=\"{1}\"{2} marker-end=\"url(#{3})\"/>"
            "<text x=\"70\" y=\"{4}\">{5}</text>\n",
            y, strokes[i].color, dashes_of(strokes[i]), strokes[i].name, y + 4, strokes[i].meaning);
      y += legend_row;
    }
  }

  Output& output_;
  const WaitGraphView& view_;
  const WaitGraphLabels& labels_;
  DrawingPlace place_;
  WaitGraphLayout layout_;
  std::array<bool, strokes.size()> used_{};
};

}  // namespace

void write_svg(Output& output, const WaitGraphView& view, const WaitGraphLabels& labels,
               DrawingPlace place) {
  Drawing{output, view, labels, place}.write();
}

}  // namespace coldtrace::cli
