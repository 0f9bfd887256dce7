#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/status.hpp"
#include "coldtrace/trace_analysis/processes/process_tree.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::ProcessTree;

constexpr std::size_t most_processes = 2000;
constexpr unsigned deepest = 64;

class TreeHtml {
 public:
  TreeHtml(Html& html, const ReportAnswers& answers, const ProcessTree& tree)
      : html_{html}, answers_{answers}, tree_{tree} {}

  void write() {
    html_.markup("<ul class=\"tree\">\n");
    for (const auto root : tree_.roots()) write_process(root, 0);
    html_.markup("</ul>\n");
    const auto all = answers_.population.processes().size();
    if (written_ < all)
      html_.markup("<p class=\"note\">")
          .text(fmt::format("{} left out.", counted(all - written_, "process is", "processes are")))
          .markup("</p>\n");
  }

 private:
  // What is deeper stands beside its parents; there is no end to how deep a damaged trace can be.
  void write_process(Index index, unsigned depth) {
    if (written_ >= most_processes || depth > deepest) return;
    ++written_;
    const auto& process = answers_.population.processes()[index];
    html_.markup("<li>").text(answers_.names.process_name(index));
    html_.markup(" <span class=\"quiet\">").text(facts_of(index)).markup("</span>");
    if (!process.command_line.empty())
      html_.markup("<br><code>").text(process.command_line).markup("</code>");
    const auto children = tree_.children_of(index);
    if (!children.empty()) {
      html_.markup("\n<ul>\n");
      for (const auto child : children) write_process(child, depth + 1);
      html_.markup("</ul>\n");
    }
    html_.markup("</li>\n");
  }

  std::string facts_of(Index index) const {
    const auto& process = answers_.population.processes()[index];
    auto text = counted(tree_.threads_of(index).size(), "thread", "threads");
    const auto& life = process.life;
    if (life.start) text += ", from " + answers_.names.since_start(*life.start);
    if (life.end) text += ", to " + answers_.names.since_start(*life.end);
    if (process.creator != nobody) {
      const auto& creator = answers_.population.threads()[process.creator];
      text += fmt::format(", started by thread {}", creator.tid);
    }
    if (tree_.has_other_parent(index))
      text += fmt::format(", stated parent {}", *process.stated_parent);
    if (process.exit_status && life.end) text += ", exit " + exit_status_text(*process.exit_status);
    return text;
  }

  Html& html_;
  const ReportAnswers& answers_;
  const ProcessTree& tree_;
  std::size_t written_ = 0;
};

}  // namespace

void add_tree(Page& page, const ReportAnswers& answers) {
  if (answers.population.processes().empty()) return;
  const ProcessTree tree{answers.population};
  TreeHtml{add_section(page, "tree", "Process tree"), answers, tree}.write();
}

}  // namespace coldtrace::cli
