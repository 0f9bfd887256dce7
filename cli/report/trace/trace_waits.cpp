#include "cli/report/page/memory_text.hpp"
#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/analysis/threads/priority_tables.hpp"
#include "cli/trace/analysis/waits/deadlock_text.hpp"
#include "cli/trace/analysis/waits/wait_graph_answer.hpp"
#include "cli/trace/analysis/waits/wait_graph_drawing.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t drawn_nodes = 60;  // threads and objects: more cannot be followed by eye
constexpr std::size_t longest_text = std::size_t{1} << 18U;

void write_graph(Html& html, const ReportAnswers& answers) {
  const trace_analysis::WaitGraphView view{answers.waits, answers.population, std::nullopt,
                                           drawn_nodes};
  if (view.edges().empty()) return;
  const WaitNames names{answers.input.trace, answers.observed, answers.functions,
                        answers.waits.graph.get().objects()};
  const WaitGraphAnswer answer{answers.input, answers.observed,         answers.functions,
                               answers.waits, answers.top_answers.code, view,
                               names};
  const WaitGraphLabels labels{answer};
  const auto drawing = text_in_memory(
      longest_text, [&](Output& memory) { write_svg(memory, view, labels, DrawingPlace::page); });
  if (!drawing) return;
  html.element("h3", "Who waited for what");
  html.markup(
          "<div class=\"drawing\" role=\"region\" tabindex=\"0\" aria-label=\"Wait-for graph\">")
      .markup(*drawing)
      .markup("</div>\n");
  if (const auto left_out = view.threads_left_out() + view.objects_left_out(); left_out > 0)
    html.markup("<p class=\"note\">")
        .text(fmt::format("{} left out; 'coldtrace trace graph wait-for' shows them.",
                          counted(left_out, "thread or object is", "threads and objects are")))
        .markup("</p>\n");
}

// The words of the commands that tell it.
void write_stories(Html& html, const ReportAnswers& answers) {
  const auto& deadlocks = answers.top_answers.deadlocks.get();
  const WaitNames names{answers.input.trace, answers.observed, answers.functions,
                        deadlocks.objects()};
  const auto stories = text_in_memory(longest_text, [&](Output& memory) {
    write_deadlock_text(memory, deadlocks, names, answers.observed);
  });
  html.element("h3", "Deadlocks");
  html.markup("<pre>")
      .lines(stories.value_or(
          "There are more than the page has room for: see 'coldtrace trace deadlocks'."))
      .markup("</pre>\n");
  const auto inversions = text_in_memory(longest_text, [&](Output& memory) {
    PriorityTables{answers.input,
                   answers.observed,
                   answers.functions,
                   answers.priorities,
                   answers.inversions,
                   [](trace_analysis::Index) { return true; },
                   memory}
        .write_inversions();
  });
  html.element("h3", "Priority inversions");
  html.markup("<pre>")
      .lines(inversions.value_or(
          "There are more than the page has room for: see 'coldtrace trace priority'."))
      .markup("</pre>\n");
}

}  // namespace

void add_waits(Page& page, const ReportAnswers& answers) {
  if (!answers.top.has(Topic::waits)) return;
  auto& html = add_section(page, "waits", "Waits");
  write_longest_waits(html, answers);
  write_graph(html, answers);
  write_stories(html, answers);
}

}  // namespace coldtrace::cli
