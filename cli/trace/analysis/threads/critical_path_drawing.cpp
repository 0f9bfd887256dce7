#include "cli/trace/analysis/threads/critical_path_drawing.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/analysis/drawing/drawing_style.hpp"
#include "cli/trace/analysis/drawing/drawing_text.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Hop;
using trace_analysis::Index;
using Kind = Hop::Kind;

constexpr double margin = 12;
constexpr double label_width = 230;
constexpr double time_width = 1000;
constexpr double lane_height = 26;
constexpr double bar_height = 16;
constexpr double head = 58;                // title and legend
constexpr double foot = 26;                // times
constexpr std::size_t longest_label = 38;  // that label_width has room for
constexpr std::size_t most_lanes = 60;
constexpr std::size_t most_hops = 4000;

constexpr std::pair<Kind, std::string_view> colours[] = {
    {Kind::running, "#4caf50"},   {Kind::ready, "#ffc107"},   {Kind::preempted, "#ff7043"},
    {Kind::interrupt, "#42a5f5"}, {Kind::waiting, "#8d6e63"}, {Kind::off, "#bcaaa4"},
    {Kind::swapped, "#ab47bc"},   {Kind::unknown, "#dddddd"},
};

std::string_view colour_of(Kind kind) {
  return std::ranges::find(colours, kind, &std::pair<Kind, std::string_view>::first)->second;
}

i64 length_of(const Hop& hop) {
  return trace_analysis::ticks_between(hop.from, hop.to);
}

// Lanes of the threads that the path spends most time on, in the order in which it meets them.
std::map<Index, std::size_t> lanes_of(std::span<const Hop> hops) {
  std::map<Index, i64> times;
  for (const auto& hop : hops) trace_analysis::add_ticks(times[hop.thread], length_of(hop));
  std::vector<std::pair<i64, Index>> longest;
  for (const auto& [thread, time] : times) longest.emplace_back(-time, thread);
  std::ranges::sort(longest);
  if (longest.size() > most_lanes) longest.resize(most_lanes);
  std::map<Index, std::size_t> lanes;
  for (const auto& hop : hops)
    if (std::ranges::find(longest, hop.thread, &std::pair<i64, Index>::second) != longest.end())
      lanes.try_emplace(hop.thread, lanes.size());
  return lanes;
}

// The hops that there is room for, in order.
std::vector<const Hop*> longest(std::span<const Hop> hops,
                                const std::map<Index, std::size_t>& lanes) {
  std::vector<const Hop*> drawn;
  for (const auto& hop : hops)
    if (lanes.contains(hop.thread)) drawn.push_back(&hop);
  if (drawn.size() <= most_hops) return drawn;
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Hop* a, const Hop* b) { return length_of(*a) > length_of(*b); });
  drawn.resize(most_hops);
  std::ranges::sort(drawn);
  return drawn;
}

void begin_svg(Output& output, double width, double height) {
  print(output,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\" {2}>\n"
        "<title>Critical path</title>\n{3}"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        width, height, drawing_class, drawing_head(DrawingPlace::file));
}

class Drawing {
 public:
  Drawing(Output& output, Index thread, std::span<const Hop> hops, const ThreadNames& names)
      : output_{output},
        thread_{thread},
        hops_{hops},
        names_{names},
        lanes_{lanes_of(hops)},
        drawn_{longest(hops, lanes_)} {}

  void write() {
    const double width = 2 * margin + label_width + time_width;
    const double height = head + lane_height * static_cast<double>(lanes_.size()) + foot;
    begin_svg(output_, width, height);
    for (const auto& [thread, lane] : lanes_) write_lane(thread, lane);
    const Hop* last = nullptr;
    for (const auto* hop : drawn_) {
      // Hops that follow each other: nothing was left out between them.
      if (last != nullptr && last + 1 == hop && last->thread != hop->thread)
        write_step(*last, *hop);
      write_hop(*hop);
      last = hop;
    }
    write_head(hops_.size() - drawn_.size());
    write_times(height);
    output_.write("</svg>\n");
  }

 private:
  double x(i64 time) const {
    const auto all =
        static_cast<double>(trace_analysis::ticks_between(hops_.front().from, hops_.back().to));
    const auto part = static_cast<double>(trace_analysis::ticks_between(hops_.front().from, time));
    return margin + label_width + (all > 0 ? part / all : 0) * time_width;
  }
  double middle(Index thread) const {
    return head + lane_height * (static_cast<double>(lanes_.at(thread)) + 0.5);
  }

  void write_head(u64 left_out) {
    print(
        output_, "<text x=\"{}\" y=\"20\" font-size=\"13\">Critical path of {}{}</text>\n", margin,
        xml_text(names_.thread(thread_)),
        left_out > 0 ? fmt::format("; {} left out", counted(left_out, "hop is", "hops are")) : "");
    double at = margin;
    for (const auto& [kind, colour] : colours) {
      print(output_,
            "<rect x=\"{}\" y=\"31\" width=\"11\" height=\"11\" fill=\"{}\"/><text x=\"{}\" "
            "y=\"41\">{}</text>\n",
            at, colour, at + 15, to_string(kind));
      at += 85;
    }
  }

  void write_lane(Index thread, std::size_t lane) {
    const auto label = names_.thread(thread);
    print(output_,
          "<rect x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>"
          "<text x=\"{}\" y=\"{}\"><title>{}</title>{}</text>\n",
          middle(thread) - lane_height / 2, 2 * margin + label_width + time_width, lane_height,
          lane % 2 == 0 ? "#fafafa" : "#ffffff", margin, middle(thread) + 4, xml_text(label),
          xml_text(fitted(label, longest_label)));
  }

  void write_hop(const Hop& hop) {
    print(
        output_,
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{} {}, {}, "
        "{}</title></rect>\n",
        x(hop.from), middle(hop.thread) - bar_height / 2, std::max(0.5, x(hop.to) - x(hop.from)),
        bar_height, colour_of(hop.kind), xml_text(names_.thread(hop.thread)), to_string(hop.kind),
        names_.since_start(hop.from), names_.duration_text(length_of(hop)));
  }

  // The path goes from one thread to another.
  void write_step(const Hop& from, const Hop& to) {
    print(output_, "<path d=\"M{:.2f} {}L{:.2f} {}\" stroke=\"#555555\" stroke-width=\"0.8\"/>\n",
          x(from.to), middle(from.thread), x(to.from), middle(to.thread));
  }

  void write_times(double height) {
    constexpr unsigned steps = 5;
    const auto first = hops_.front().from;
    const auto all = trace_analysis::ticks_between(first, hops_.back().to);
    for (unsigned i = 0; i <= steps; ++i) {
      const i64 time = first + all / steps * i;
      print(output_, "<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            std::min(x(time), margin + label_width + time_width - 24), height - 9,
            names_.since_start(time));
    }
  }

  Output& output_;
  Index thread_;
  std::span<const Hop> hops_;
  const ThreadNames& names_;
  std::map<Index, std::size_t> lanes_;
  std::vector<const Hop*> drawn_;
};

}  // namespace

void write_svg(Output& output, Index thread, std::span<const Hop> hops, const ThreadNames& names) {
  if (!hops.empty()) return Drawing{output, thread, hops, names}.write();
  begin_svg(output, 2 * margin + label_width + time_width, head);
  print(output,
        "<text x=\"{}\" y=\"34\">No event of the trace shows what delayed the thread.</text>\n",
        margin);
  output.write("</svg>\n");
}

}  // namespace coldtrace::cli
