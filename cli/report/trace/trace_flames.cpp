#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/report/page/html_table.hpp"
#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/analysis/processors/stack_labels.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::add_ticks;
using trace_analysis::CallTree;
using trace_analysis::Frame;
using trace_analysis::Index;
using trace_analysis::nobody;

// Of a drawing; the largest ones.
constexpr std::size_t most_parts = 4000;
constexpr u32 not_drawn = 0xffff'ffff;

// Ticks of each node and of all below it. Idle threads, and what is below them, count nowhere.
std::vector<i64> totals_of(const CallTree& tree, const trace_analysis::Population& population) {
  const auto& nodes = tree.nodes();
  std::vector<bool> idle(nodes.size());
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const auto& frame = nodes[i].frame;
    idle[i] = nodes[i].parent != 0 ? idle[nodes[i].parent]
                                   : frame.kind == Frame::Kind::thread && frame.value != nobody &&
                                         population.threads()[frame.value].idle_of.has_value();
  }
  std::vector<i64> totals(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (idle[i]) continue;
    add_ticks(totals[i], nodes[i].self.time);
    add_ticks(totals[i], nodes[i].cut.time);
    if (i != 0) add_ticks(totals[nodes[i].parent], totals[i]);
  }
  return totals;
}

// Which are the largest, the first of those alike. What has parts stands before them.
std::vector<bool> choose_largest(const std::vector<i64>& totals) {
  std::vector<u32> order;
  for (u32 i = 0; i < totals.size(); ++i)
    if (totals[i] > 0) order.push_back(i);
  if (order.size() > most_parts) {
    const auto at = order.begin() + most_parts;
    std::ranges::nth_element(order, at, [&](u32 a, u32 b) {
      return std::pair{-totals[a], a} < std::pair{-totals[b], b};
    });
    order.erase(at, order.end());
  }
  std::vector<bool> chosen(totals.size());
  for (const auto i : order) chosen[i] = true;
  return chosen;
}

// Threads stand on their processes, which have the time of all of them.
class TreeDrawing {
 public:
  TreeDrawing(const ReportAnswers& answers, const CallTree& tree, const StackLabels& labels,
              DrawnTree& drawn)
      : answers_{answers}, tree_{tree}, labels_{labels}, drawn_{drawn} {}

  void draw(const std::string& root) {
    const auto totals = totals_of(tree_, answers_.population);
    group_threads(totals);
    // One after the other: the root, processes, and what the tree has below its root.
    std::vector<i64> parts{totals[0]};
    for (const auto& process : processes_) parts.push_back(process.total);
    parts.insert(parts.end(), totals.begin() + 1, totals.end());
    const auto chosen = choose_largest(parts);
    drawn_.left_out = static_cast<u64>(std::ranges::count_if(parts, [](i64 t) { return t > 0; })) -
                      static_cast<u64>(std::ranges::count(chosen, true));
    push(0, root, totals[0]);
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (chosen[1 + i])
        processes_[i].place = push(0, labels_.process(processes_[i].process), processes_[i].total);
    std::vector<u32> places(totals.size(), not_drawn);
    places[0] = 0;
    for (u32 i = 1; i < totals.size(); ++i)
      if (chosen[processes_.size() + i]) places[i] = add(i, places, totals[i]);
  }

 private:
  struct Process {
    Index process;  // `nobody` of threads whose process is not known
    i64 total = 0;
    u32 place = not_drawn;
  };

  // The number of the process that a node is a thread of, where it is a known one.
  std::optional<u32> process_of(const CallTree::Node& node) const {
    if (node.parent != 0 || node.frame.kind != Frame::Kind::thread || node.frame.value == nobody)
      return std::nullopt;
    return numbers_.at(answers_.population.threads()[node.frame.value].process);
  }

  void group_threads(const std::vector<i64>& totals) {
    for (std::size_t i = 1; i < totals.size(); ++i) {
      const auto& [parent, frame, self, cut] = tree_.nodes()[i];
      if (parent != 0 || frame.kind != Frame::Kind::thread || frame.value == nobody) continue;
      const auto process = answers_.population.threads()[frame.value].process;
      const auto [known, added] =
          numbers_.try_emplace(process, static_cast<u32>(processes_.size()));
      if (added) processes_.push_back({process});
      add_ticks(processes_[known->second].total, totals[i]);
    }
  }

  u32 push(u32 parent, const std::string& name, i64 ticks) {
    const auto [known, added] = names_.try_emplace(name, static_cast<u32>(drawn_.names.size()));
    if (added) drawn_.names.push_back(name);
    drawn_.nodes.push_back({parent, known->second, answers_.duration(ticks)});
    return static_cast<u32>(drawn_.nodes.size() - 1);
  }

  u32 add(u32 number, const std::vector<u32>& places, i64 ticks) {
    const auto& node = tree_.nodes()[number];
    if (const auto process = process_of(node))
      return push(processes_[*process].place, labels_.thread_alone(node.frame.value), ticks);
    return push(places[node.parent], labels_.label(node.frame, ", "), ticks);
  }

  const ReportAnswers& answers_;
  const CallTree& tree_;
  const StackLabels& labels_;
  DrawnTree& drawn_;
  std::vector<Process> processes_;
  std::unordered_map<Index, u32> numbers_;  // of processes
  std::unordered_map<std::string, u32> names_;
};

struct Graph {
  std::string_view id, title, root, what;
  const CallTree& tree;
};

void write_functions(Html& html, const ReportAnswers& answers) {
  const auto& functions = answers.top_answers.use.get().functions();
  const auto& code = answers.top_answers.code.get();
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
