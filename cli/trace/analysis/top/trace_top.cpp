#include <algorithm>

#include "cli/command/color_option.hpp"
#include "cli/trace/analysis/requests/io_tables.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/analysis/top/top_formats.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/processors/processor_lanes.hpp"

namespace coldtrace::cli {
namespace {

constexpr u64 rows_by_default = 4;
constexpr u64 most_fitting_rows = 10;
constexpr std::ptrdiff_t page_height = 50;  // lines

struct TraceTopOptions : AnalysisOptions {
  std::optional<u64> top;  // rows of each table
  RowOrder order = RowOrder::time;
  std::string color;
};

void note_answers(const TopAnswers& answers, const TopPage& page, AnalysisRun& run) {
  auto& findings = run.findings();
  if (page.empty())
    run.note_no_match("the trace says nothing about processes, processors, requests or services");
  note_ready_events(answers.use.get().schedule().turns().counts(), run);
  note_processor_use(answers.use, answers.code, findings);
  note_disk_requests(answers.disk, findings);
  note_file_requests(answers.files, findings);
  note_network_requests(answers.network, findings);
  note_deadlocks(answers.deadlocks, findings);
  note_services(answers.services, findings);
}

Exit run_trace_top(const TraceTopOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  Output output{options.output};
  const auto& trace = run.input().trace;
  const auto& population = run.observation().population();
  const u64 top = options.top.value_or(rows_by_default);
  trace_analysis::ImageOffsets names{trace.names()};
  trace_analysis::CodeNames code{trace.names(), names};
  trace_analysis::LongestWaits waits{std::max(top, most_fitting_rows)};
  trace_analysis::ProcessorUse use{trace.clock(), trace.names().sampling_intervals(), code};
  trace_analysis::Deadlocks deadlocks;
  trace_analysis::DiskIo disk{trace.names(), std::nullopt, trace_analysis::CounterTicks{trace}};
  trace_analysis::FileIo files{trace.names()};
  trace_analysis::NetworkIo network;
  trace_analysis::Services services{code};
  std::vector<trace_analysis::Analysis*> analyses{&use,   &waits,   &deadlocks, &disk,
                                                  &files, &network, &services};
  const auto charts =
      options.format == "text" ? TextCharts{options.output, options.color} : TextCharts{};
  // Of its lanes nothing is drawn.
  trace_analysis::ProcessorLanes lanes{1, 0};
  if (charts.shown()) analyses.push_back(&lanes);
  run.observe(analyses, nullptr, nullptr);
  const TopCharts drawn{charts, charts.shown() && use.has_switches() ? &lanes.busy() : nullptr,
                        output.columns()};
  const TopAnswers answers{use, code, waits, deadlocks, disk, files, network, services};
  const bool fits = options.format == "text" && !options.top;
  u64 rows = fits ? most_fitting_rows : top;
  std::optional<TopPage> page;
  page.emplace(trace, population, answers, rows, options.order);
  note_answers(answers, *page, run);
  const auto text_of = [&] {
    return top_text({run.input(), run.observation(), answers, *page}, drawn);
  };
  if (options.format == "json") {
    write_top_json(output, {run.input(), run.observation(), answers, *page}, options.int64);
  } else {
    auto text = text_of();
    while (fits && rows > 1 && std::ranges::count(text, '\n') > page_height) {
      page.emplace(trace, population, answers, --rows, options.order);
      text = text_of();
    }
    output.write(text);
  }
  return run.finish(output);
}

}  // namespace

void add_trace_top(CLI::App& app, Exit& exit) {
  add_command<TraceTopOptions>(
      app, exit,
      {"top", "Summarise use of processors, disks and network, and the longest waits, on one page",
       "  coldtrace trace top run.etl\n"
       "  coldtrace trace top run.etl --top 10 --from 2024-02-29T12:34:56Z\n"
       "  coldtrace trace top run.ctrace --format json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace has nothing for the page; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json"},
      [](Command& command, TraceTopOptions& options) {
        add_analysis_options(command, options);
        add_color_option(command, options.color);
        add_sort_option(command, options.order,
                        "Sort rows by time (network by bytes), or by number of samples, DPCs and "
                        "ISRs, requests or calls, most first; waits are sorted by time",
                        {"text", "json"});
        command.add_option("--top", options.top,
                           "Rows per table (default: 4 in JSON, in text as many as fit in 50 "
                           "lines); at most 1,000 waits are kept");
        add_text_time_options(command, options.text);
      },
      run_trace_top);
}

}  // namespace coldtrace::cli
