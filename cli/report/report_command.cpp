#include "cli/report/report_command.hpp"

#include "cli/report/trace/trace_report.hpp"

namespace coldtrace::cli {
namespace {

struct Options : AnalysisOptions {
  TraceReportOptions report;
};

Exit run(const Options& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  Output output{options.output};
  TraceReport report{run, options.report};
  report.observe();
  write_page(output, report.page());
  return run.finish(output);
}

}  // namespace

void add_report_command(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"report", "Write one HTML page of a trace, to look at, to zoom and to hand on",
       "  coldtrace report run.etl -o report.html\n"
       "  coldtrace report run.ctrace --top 1000 -o report.html\n"
       "  coldtrace report run.etl --dir symbols -o report.html\n",
       "  0  the input was read to its end\n"
       "  1  it has damage or loss, or tells nothing of what a page shows; the rest was written\n"
       "  2  nothing that a page can be made of, or it cannot be read or written\n"},
      {"html"},
      [](Command& command, Options& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
        command.add_option("--top", options.report.top, "Rows of each table").capture_default_str();
        command
            .add_option("--size-limit", options.report.largest,
                        "Most bytes of the page: beyond, the timeline shows less, and says so")
            .as_size()
            .capture_default_str();
      },
      run);
}

}  // namespace coldtrace::cli
