#include <algorithm>
#include <unordered_map>

#include "cli/report/page/html_table.hpp"
#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/analysis/processors/stack_labels.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::add_ticks;
using trace_analysis::CallTree;
using trace_analysis::Frame;
using trace_analysis::nobody;

// Of a drawing; the largest ones.
constexpr std::size_t most_nodes = 4000;
constexpr u32 not_drawn = 0xffff'ffff;

// Ticks of each node and of all below it. Idle threads count nowhere.
std::vector<i64> totals_of(const CallTree& tree, const trace_analysis::Population& population) {
  const auto& nodes = tree.nodes();
  std::vector<i64> totals(nodes.size());
  const auto is_idle = [&](const Frame& frame) {
    return frame.kind == Frame::Kind::thread && frame.value != nobody &&
           population.threads()[frame.value].idle_of;
  };
  for (std::size_t i = nodes.size(); i-- > 0;) {
    add_ticks(totals[i], nodes[i].self.time);
    add_ticks(totals[i], nodes[i].cut.time);
    if (i == 0 || (nodes[i].parent == 0 && is_idle(nodes[i].frame))) {
      if (i != 0) totals[i] = 0;
      continue;
    }
    add_ticks(totals[nodes[i].parent], totals[i]);
  }
  return totals;
}

// Totals of nodes that are drawn are above this one.
i64 least_total(std::vector<i64> totals) {
  if (totals.size() <= most_nodes) return 0;
  const auto at = totals.begin() + most_nodes;
  std::ranges::nth_element(totals, at, std::greater{});
  return *at;
}

class TreeDrawing {
 public:
  TreeDrawing(const ReportAnswers& answers, const CallTree& tree, const StackLabels& labels,
              DrawnTree& drawn)
      : answers_{answers}, tree_{tree}, labels_{labels}, drawn_{drawn} {}

  void draw(const std::string& root) {
    const auto totals = totals_of(tree_, answers_.population);
    const auto least = least_total(totals);
    drawn_.nodes.push_back({0, name_of(root), answers_.duration(totals[0])});
    std::vector<u32> places(totals.size(), not_drawn);
    places[0] = 0;
    for (u32 i = 1; i < totals.size(); ++i) {
      const auto& node = tree_.nodes()[i];
      const auto parent = places[node.parent];
      if (totals[i] <= least || parent == not_drawn)
        drawn_.left_out += totals[i] > 0;
      else
        places[i] = add(parent, node.frame, answers_.duration(totals[i]));
    }
  }

 private:
  u32 name_of(const std::string& name) {
    const auto [known, added] = numbers_.try_emplace(name, static_cast<u32>(drawn_.names.size()));
    if (added) drawn_.names.push_back(name);
    return known->second;
  }

  u32 push(u32 parent, const std::string& name, i64 total) {
    drawn_.nodes.push_back({parent, name_of(name), total});
    return static_cast<u32>(drawn_.nodes.size() - 1);
  }

  // A thread stands on its process.
  u32 add(u32 parent, const Frame& frame, i64 total) {
    const auto label = labels_.label(frame, ";");
    const auto cut = label.find(';');
    if (frame.kind != Frame::Kind::thread || cut == std::string::npos)
      return push(parent, label, total);
    const auto process = label.substr(0, cut);
    const auto [known, added] = processes_.try_emplace(process, 0);
    if (added) known->second = push(parent, process, 0);
    drawn_.nodes[known->second].total += total;
    return push(known->second, label.substr(cut + 1), total);
  }

  const ReportAnswers& answers_;
  const CallTree& tree_;
  const StackLabels& labels_;
  DrawnTree& drawn_;
  std::unordered_map<std::string, u32> numbers_, processes_;
};

struct Graph {
  std::string_view id, title, root, what;
  const CallTree& tree;
};

void write_functions(Html& html, const ReportAnswers& answers) {
  const auto& functions = answers.top_answers.use.functions();
  const auto& code = answers.top_answers.code;
  std::vector<u32> order;
  for (u32 i = 0; i < functions.size(); ++i)
    if (functions[i].all.samples > 0) order.push_back(i);
  if (order.empty()) return;
  std::ranges::stable_sort(order, std::greater{}, [&](u32 i) { return functions[i].all.time; });
  HtmlTable table{html,
                  "functions-table",
                  "Functions by samples in themselves",
                  {{"Function"}, {"Samples", true}, {"Time", true}, {"In DPCs", true}}};
  const auto shown = std::min<std::size_t>(order.size(), answers.options.top);
  for (const auto number : std::span{order}.first(shown)) {
    table.text(code.functions()[number].name);
    table.count(functions[number].all.samples);
    table.time(answers.duration(functions[number].all.time));
    table.time(answers.duration(functions[number].in_dpc.time));
  }
  table.finish(order.size() - shown);
}

}  // namespace

std::vector<DrawnTree> draw_trees(const ReportAnswers& answers) {
  std::vector<DrawnTree> drawn;
  const StackLabels labels{answers.population, answers.top_answers.code, answers.names.times(),
                           &answers.waiting.files()};
  for (const auto& graph :
       {Graph{"flame-running", "On processors", "all samples",
              "Flame graph of samples: who called what while it ran", answers.running.tree()},
        Graph{"flame-waiting", "Off processors", "all threads",
              "Flame graph of waits: what kept threads from running, and who ended that",
              answers.waiting.tree()}}) {
    if (graph.tree.nodes().size() == 1) continue;
    auto& one = drawn.emplace_back();
    one.id = graph.id;
    one.label = graph.what;
    TreeDrawing{answers, graph.tree, labels, one}.draw(std::string{graph.root});
  }
  return drawn;
}

void add_flames(Page& page, const ReportAnswers& answers) {
  const auto drawn = draw_trees(answers);
  if (drawn.empty()) return;
  auto& html = add_section(page, "flames", "Flame graphs");
  for (const auto& one : drawn) {
    html.element("h3", one.label);
    html.markup(fmt::format("<div id=\"{}\" data-label=\"", one.id))
        .text(one.label)
        .markup("\"></div>\n");
    if (one.left_out > 0)
      html.markup("<p class=\"note\">")
          .text(fmt::format("{} too small to be drawn; {} counts for the calls around.",
                            counted(one.left_out, "part is", "parts are"),
                            one.left_out == 1 ? "its time" : "their time"))
          .markup("</p>\n");
  }
  write_functions(html, answers);
  html.markup(
      "<noscript><p class=\"note\">The graphs need the page's script; the tables do not.</p>"
      "</noscript>\n");
}

}  // namespace coldtrace::cli
