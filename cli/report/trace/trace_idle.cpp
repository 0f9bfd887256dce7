#include "cli/report/page/charts.hpp"
#include "cli/report/page/html_table.hpp"
#include "cli/report/trace/trace_sections.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::AtRest;

std::string name_of(const AtRest::Device& device) {
  using Kind = AtRest::Device::Kind;
  switch (device.kind) {
    case Kind::processor:
      return fmt::format("Processor {}", device.number);
    case Kind::disk:
      return fmt::format("Disk {}", device.number);
    case Kind::network:
      break;
  }
  return "Network";
}

void write_devices(Html& html, const ReportAnswers& answers) {
  HtmlTable table{html,
                  "idle-table",
                  "How long devices were idle; the bars are idle times by length, each twice as "
                  "long as the one before",
                  {{"Device"},
                   {"Busy", true},
                   {"Idle", true},
                   {"Times", true},
                   {"Median", true},
                   {"Longest", true},
                   {"Lengths"}}};
  for (const auto& [device, one] : answers.rest.devices()) {
    const auto& idle = one.idle_times();
    table.text(name_of(device));
    table.time(answers.duration(one.busy()));
    table.time(answers.duration(one.idle()));
    table.count(idle.count());
    const auto median = idle.percentile(50);
    for (const auto ticks : {median, median ? std::optional{idle.greatest()} : std::nullopt})
      table.time_or_nothing(ticks ? std::optional{answers.duration(static_cast<i64>(*ticks))}
                                  : std::nullopt);
    table.drawing(histogram_drawing(idle.steps(), "Idle times by length"), idle.count());
  }
  table.finish(0);
}

void write_savings(Html& html, const ReportAnswers& answers, std::string_view id,
                   const std::string& name, const trace_analysis::Rest& one) {
  html.markup(fmt::format("<div id=\"{}\" data-label=\"", id))
      .text(fmt::format("{}: off after this long without anything to do", name))
      .markup("\"></div>\n<details class=\"as-table\"><summary>As a table</summary>\n");
  HtmlTable table{
      html,
      fmt::format("{}-table", id),
      fmt::format("{}: what turning it off would have saved; it takes 2 s to start", name),
      {{"Off after", true}, {"Off", true}, {"Starts", true}, {"Waiting", true}}};
  for (std::size_t i = 0; i < answers.timeouts.size(); ++i) {
    const auto& saving = one.savings()[i];
    table.time(answers.timeouts[i]);
    table.time(saving.off(answers.input.trace.clock(), answers.timeouts[i]));
    table.count(saving.spin_ups);
    table.time(saving.waiting);
  }
  table.finish(0);
  html.markup("</details>\n");
}

}  // namespace

std::string idle_id(const AtRest::Device& device) {
  return fmt::format("idle-{}-{}", static_cast<unsigned>(device.kind), device.number);
}

void add_idle(Page& page, const ReportAnswers& answers) {
  if (answers.rest.devices().empty()) return;
  auto& html = add_section(page, "idle", "Idle times");
  write_devices(html, answers);
  for (const auto& [device, one] : answers.rest.devices()) {
    if (device.kind == AtRest::Device::Kind::processor) continue;
    html.element("h3", "What if: " + name_of(device));
    write_savings(html, answers, idle_id(device), name_of(device), one);
  }
}

}  // namespace coldtrace::cli
