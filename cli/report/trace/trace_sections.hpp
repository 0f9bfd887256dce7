#pragma once

#include "cli/report/page/page.hpp"
#include "cli/report/trace/report_answers.hpp"

namespace coldtrace::cli {

// The parts of a trace's page. Each adds its section if the trace has anything for it.
void add_overview(Page& page, const ReportAnswers& answers);
void add_use(Page& page, const ReportAnswers& answers);
void add_processes(Page& page, const ReportAnswers& answers);
void add_flames(Page& page, const ReportAnswers& answers);
void add_services(Page& page, const ReportAnswers& answers);
void add_waits(Page& page, const ReportAnswers& answers);
void add_requests(Page& page, const ReportAnswers& answers);
void add_idle(Page& page, const ReportAnswers& answers);
void add_tree(Page& page, const ReportAnswers& answers);
void add_findings(Page& page, const core::Findings& findings);

// The table of the longest waits.
void write_longest_waits(Html& html, const ReportAnswers& answers);

// The id of the element that contains the slider of a device.
std::string idle_id(const trace_analysis::AtRest::Device& device);

// Call trees as they are drawn: the element of each, and its contents.
struct DrawnTree {
  struct Node {
    u32 parent, name;
    i64 total;  // units of 100 ns
  };
  std::string id, label;
  std::vector<std::string> names;
  std::vector<Node> nodes;  // the first one is the root
  u64 left_out = 0;         // nodes too small to be drawn
};
std::vector<DrawnTree> draw_trees(const ReportAnswers& answers);

// The packed data that the page's script draws, and how much of the trace that is.
struct DrawnData {
  std::string packed;
  bool has_details = false;  // of turns
  std::size_t requests = 0;  // to disks
  std::size_t slices = 0;
  i64 grid = 0;  // ticks within which slices were joined; 0: each is one turn
};
// As much as fits in `largest` bytes.
DrawnData draw_data(const ReportAnswers& answers, u64 largest);

// Adds it before the other sections.
void add_timeline(Page& page, const ReportAnswers& answers, DrawnData drawn);

}  // namespace coldtrace::cli
