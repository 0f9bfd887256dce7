#include "cli/report/trace/trace_sections.hpp"

namespace coldtrace::cli {
namespace {

// What the timeline of a long trace leaves out.
std::string left_out_text(const ReportAnswers& answers, const DrawnData& drawn) {
  std::string text;
  const auto& lanes = answers.lanes;
  if (drawn.grid > 0)
    text += fmt::format(
        "The trace has {}, more than the page has room for: those that lie within {} of each other "
        "are drawn as one. ",
        counted(lanes.turns(), "turn", "turns"), short_time(answers.duration(drawn.grid)));
  if (!drawn.has_details && lanes.turns() > 0)
    text +=
        "What ended a turn, who made its thread ready and where its event lies are left out to "
        "limit the size of the page. ";
  else if (lanes.details().size() < lanes.turns())
    text += fmt::format("Only the first {} have details. ",
                        counted(lanes.details().size(), "turn", "turns"));
  const auto requests =
      answers.requests.requests.size() - drawn.requests + answers.requests.left_out;
  if (requests > 0)
    text += fmt::format("{} not drawn. ",
                        counted(requests, "request to a disk is", "requests to disks are"));
  if (lanes.overlapping() > 0)
    text += fmt::format("{} the one before on that processor, and {} left out. ",
                        counted(lanes.overlapping(), "turn overlaps", "turns overlap"),
                        lanes.overlapping() == 1 ? "is" : "are");
  return text;
}

std::string label_of(const ReportAnswers& answers, const DrawnData& drawn) {
  return fmt::format(
      "Timeline of {}, {} and {}; arrows move it, plus and minus zoom, Home shows all, n goes to "
      "the next match. The tables below have the same figures.",
      counted(answers.lanes.lanes().all().size(), "processor", "processors"),
      counted(drawn.slices, "slice", "slices"),
      counted(drawn.requests, "request to disks", "requests to disks"));
}

}  // namespace

void add_timeline(Page& page, const ReportAnswers& answers, DrawnData drawn) {
  page.data.push_back(std::move(drawn.packed));
  if (drawn.slices + drawn.requests == 0) return;
  auto& section =
      *page.sections.insert(page.sections.begin(), Page::Section{"timeline", "Timeline", {}});
  auto& html = section.content;
  const auto left_out = left_out_text(answers, drawn);
  if (!left_out.empty()) html.markup("<p class=\"note\">").text(left_out).markup("</p>\n");
  html.markup("<div id=\"timeline-view\" data-label=\"")
      .text(label_of(answers, drawn))
      .markup(
          "\"></div>\n<p class=\"hint\">Drag to move, Ctrl and wheel or two fingers to zoom, "
          "double "
          "click to zoom in; / searches. Processors and processes are filled where something ran; "
          "hatched is what the trace does not tell. A process opens into its threads: a thin line "
          "is a wait, a raised one that the thread was ready.</p>\n<noscript><p class=\"note\">The "
          "timeline needs the page's script; the tables do not.</p></noscript>\n");
}

}  // namespace coldtrace::cli
