#include <algorithm>

#include "cli/report/page/charts.hpp"
#include "cli/report/page/html_table.hpp"
#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/session_text.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::TimeBins;

// "2022-06-04 04:21:10 UTC"
std::string moment_text(const std::string& utc) {
  return utc.substr(0, 10) + ' ' + utc.substr(11, 8) + " UTC";
}

std::string title_of(const ReportAnswers& answers) {
  std::string title = "Trace";
  if (const auto& machine = answers.top.machine; machine && machine->windows_version)
    title += fmt::format(" of Windows {}", *machine->windows_version);
  if (const auto first = answers.names.times().utc(answers.observed.first))
    title += ", " + moment_text(*first);
  return title;
}

std::string machine_text(const ReportAnswers& answers) {
  const auto& machine = answers.top.machine;
  if (!machine) return "The header of the trace, which describes its machine, is lost. ";
  return fmt::format("A machine with {}, {}-bit {}. ",
                     counted(machine->processors, "processor", "processors"),
                     machine->pointer_size * 8, windows_text(machine->windows_version));
}

std::string what_and_when(const ReportAnswers& answers) {
  const auto& observed = answers.observed;
  const auto& times = answers.names.times();
  auto text = machine_text(answers);
  if (!observed.first) return text + "The trace has no events.";
  const auto elapsed = answers.moment(*observed.last);
  const auto first = times.utc(observed.first);
  text += first ? fmt::format("The trace ({}) begins at {} and lasts {}. ",
                              answers.input.trace.format(), *first, short_time(elapsed))
                : fmt::format("The trace ({}) lasts {}; when it began is not known. ",
                              answers.input.trace.format(), short_time(elapsed));
  return text + fmt::format("It has {}, {} and {}.", counted(observed.events, "event", "events"),
                            counted(answers.population.processes().size(), "process", "processes"),
                            counted(answers.population.threads().size(), "thread", "threads"));
}

std::string losses_text(const ReportAnswers& answers) {
  const auto stretches = answers.observed.losses.all().size();
  const auto& events = answers.top.events_lost;
  const auto& buffers = answers.top.buffers_lost;
  if (stretches == 0 && events.all == 0U && buffers.all == 0U)
    return "No event is known to be lost.";
  return fmt::format(
      "By the trace's own count, {} and {} are lost; events may be missing in {} of time, and "
      "nothing is invented there.",
      lost_text(events, "event", "events"), lost_text(buffers, "buffer", "buffers"),
      counted(stretches, "stretch", "stretches"));
}

std::string processors_text(const ReportAnswers& answers) {
  const auto& all = answers.top.processors;
  const auto& use = answers.top_answers.use.get();
  if (!use.has_switches() && !use.has_samples()) return {};
  auto text =
      use.has_switches()
          ? fmt::format("Processors were busy {} of the time.", share_text(all.busy, all.time()))
          : fmt::format("By samples, processors were busy {} of the time.",
                        share_text(use.total().all.time - all.sampled_idle, use.total().all.time));
  if (all.processes.rows.empty()) return text;
  const auto& most = all.processes.rows.front();
  return text + fmt::format(
                    " {} used the most: {}.", answers.names.process_name(most.process),
                    short_time(answers.duration(use.has_switches() ? most.running : most.sampled)));
}

std::string requests_text(const ReportAnswers& answers) {
  const auto& disk = answers.top_answers.disk.get().all();
  if (disk.count() == 0) return {};
  return fmt::format("Disks had {}, which read {} and wrote {}.",
                     counted(disk.count(), "request", "requests"), short_bytes(disk.bytes_read),
                     short_bytes(disk.bytes_written));
}

std::string waits_text(const ReportAnswers& answers) {
  const auto& deadlocks = answers.top_answers.deadlocks.get();
  if (!deadlocks.names_objects() || deadlocks.deadlocks().empty()) return {};
  const auto lasting = answers.top.lasting_deadlocks;
  return fmt::format(
      "{}; {} to the end of the trace.",
      counted(deadlocks.deadlocks().size(), "deadlock was found", "deadlocks were found"),
      counted(lasting, "lasts", "last"));
}

std::string findings_text(const core::Findings& findings) {
  const auto warnings = std::ranges::count_if(findings.all(), [](const core::Finding& one) {
    return one.severity == core::Severity::warning;
  });
  if (warnings == 0) return {};
  return fmt::format("{} what is wrong with the trace or missing: see the findings.",
                     counted(static_cast<u64>(warnings), "warning says", "warnings say"));
}

// From the first event to the last one, `span` ticks; bins end with the last that has any.
void write_use(Html& html, const ReportAnswers& answers, std::string_view id,
               const std::string& title, const TimeBins& bins, i64 span, i64 devices) {
  AreaChart chart{id, title, {}, answers.duration(span), "Busy"};
  const auto& all = bins.bins();
  for (i64 begin = 0; begin < span; begin += std::min(bins.width(), span - begin)) {
    const auto at = chart.steps.size();
    const auto most = answers.duration(std::min(bins.width(), span - begin));
    AreaChart::Step step{answers.duration(begin), at < all.size() ? answers.duration(all[at]) : 0,
                         0};
    if (__builtin_mul_overflow(most, devices, &step.most)) step.most = most;
    chart.steps.push_back(step);
  }
  write_area_chart(html, chart);
}

}  // namespace

void add_overview(Page& page, const ReportAnswers& answers) {
  if (page.title.empty()) page.title = title_of(answers);
  for (auto&& paragraph : {what_and_when(answers), losses_text(answers),
                           processors_text(answers) + (requests_text(answers).empty() ? "" : " ") +
                               requests_text(answers),
                           waits_text(answers), findings_text(answers.input.findings)})
    if (!paragraph.empty()) page.overview.push_back(paragraph);
}

void add_use(Page& page, const ReportAnswers& answers) {
  const auto& busy = answers.lanes.busy();
  if (busy.bins().empty() && answers.disk_use.empty()) return;
  auto& html = add_section(page, "use", "Use over time");
  const auto& seen = answers.observed;
  const i64 span =
      seen.first && seen.last ? trace_analysis::ticks_between(*seen.first, *seen.last) : 0;
  // One scale for all of them, on which the whole trace has its steps.
  i64 width = std::max(busy.width(), span / static_cast<i64>(TimeBins::most_bins) + 1);
  for (const auto& [disk, bins] : answers.disk_use) width = std::max(width, bins.width());
  const auto draw = [&](std::string_view id, const std::string& title, TimeBins bins, i64 devices) {
    bins.widen(width);
    write_use(html, answers, id, title, bins, span, devices);
  };
  if (const auto processors = answers.lanes.lanes().all().size(); processors > 0)
    draw("use-processors",
         fmt::format("{}: busy {}", counted(processors, "processor", "processors"),
                     short_time(answers.duration(busy.total()))),
         busy, static_cast<i64>(processors));
  for (const auto& [disk, bins] : answers.disk_use)
    draw(fmt::format("use-disk-{}", disk),
         fmt::format("Disk {}: busy {}", disk, short_time(answers.duration(bins.total()))), bins,
         1);
}

void add_findings(Page& page, const core::Findings& findings) {
  auto& html = add_section(page, "findings", "Findings");
  if (findings.empty()) {
    html.element("p", "Nothing was odd, skipped or missing.");
    return;
  }
  html.markup("<ul class=\"findings\">\n");
  for (const auto severity : {core::Severity::warning, core::Severity::info})
    for (const auto& one : findings.all()) {
      if (one.severity != severity) continue;
      html.markup(severity == core::Severity::warning
                      ? "<li><span class=\"warning\">Warning</span> <code>"
                      : "<li>Information <code>")
          .text(one.code.view())
          .markup("</code>: ")
          .text(one.text);
      if (one.first_offset) html.text(fmt::format(", at {:#x}", *one.first_offset));
      if (one.count > 1) html.text(fmt::format(" ({} times)", grouped(one.count)));
      html.markup("</li>\n");
    }
  html.markup("</ul>\n");
}

}  // namespace coldtrace::cli
