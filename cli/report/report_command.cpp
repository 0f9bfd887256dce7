#include "cli/report/report_command.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/ntfs/ntfs_input.hpp"
#include "cli/report/hooks/hooks_report.hpp"
#include "cli/report/report_inputs.hpp"
#include "cli/report/snapshot/snapshot_report.hpp"
#include "cli/report/trace/trace_report.hpp"

namespace coldtrace::cli {
namespace {

struct ReportCommandOptions : AnalysisOptions {
  std::vector<std::string> inputs;
  TraceReportOptions report;
  u64 disk_offset = 0;
  u32 disk = 0;
};

// Disks and hook tables: false where none of them can be shown.
bool add_others(Page& page, ReportInputs& inputs, const ReportCommandOptions& options,
                TracedVolumes& traced, Report& report) {
  bool any = false;
  // Which of several images a request is to would not be known.
  const bool is_joined = inputs.disks.size() == 1 && !inputs.traces.empty();
  if (inputs.disks.size() > 1 && !inputs.traces.empty())
    page.overview.push_back(
        "Requests of the trace are not shown on the maps of disks, since there are several images "
        "or snapshots: make a page of the trace and the image or snapshot it belongs to.");
  for (auto& [path, piped] : inputs.disks) {
    DiskOptions disk;
    static_cast<CommonOptions&>(disk) = options;
    disk.image = path;
    disk.unpacked_limit = options.unpacked_limit;
    const SnapshotReportOptions snapshot{options.report.top, options.jobs,
                                         "disk-" + std::to_string(page.sections.size()),
                                         options.report.largest, is_joined ? &traced : nullptr};
    any |= add_snapshot_report(page, disk, std::move(piped), snapshot, report);
  }
  if (!inputs.hook_tables.empty())
    any |= add_hooks_report(page, inputs.hook_tables, options.report.top, report);
  return any;
}

// A page is handed on without what standard error said.
void note_missing(Page& page, const std::vector<const Report*>& reports) {
  std::vector<std::string> names;
  for (const auto* const report : reports)
    for (const auto& input : report->failed_inputs())
      names.push_back(std::filesystem::path{input.file}.filename().string());
  if (names.empty()) return;
  page.overview.push_back(
      fmt::format("Not in this page, because they could not be read: {}.", fmt::join(names, ", ")));
}

void write(Output& output, const Page& page, const ReportCommandOptions& options, Report& report) {
  const auto bytes = write_page(output, page);
  if (bytes <= options.report.largest) return;
  core::Findings findings;
  findings.warning(
      "page-size", std::nullopt,
      "the page has {} bytes, more than --size-limit: tables and drawings are not shortened to fit",
      bytes);
  report.tell("report", findings);
}

Exit run_report_command(const ReportCommandOptions& options) {
  Output output{options.output};
  output.outlive_reader();  // what the page is made of is read before
  Page page;
  Report report{options.findings};
  auto inputs = sort_report_inputs(options.inputs, options.unpacked_limit, report);
  TracedVolumes traced{options.disk_offset, options.disk,
                       static_cast<std::size_t>(options.names_limit)};
  const bool has_others = add_others(page, inputs, options, traced, report);
  traced.finish();
  if (inputs.traces.empty()) {
    if (!has_others) return report.exit();
    note_missing(page, {&report});
    write(output, page, options, report);
    output.commit();
    return report.exit();
  }
  AnalysisOptions of_trace = options;
  of_trace.wanted = "a trace, NTFS image or snapshot, hook table or system call map";
  of_trace.files.clear();
  for (auto& [path, piped] : inputs.traces) {
    of_trace.files.push_back(path);
    if (piped) of_trace.piped.emplace(path, std::move(piped));
  }
  AnalysisRun run{of_trace, TraceUse::lines};
  if (!run.opened()) {
    if (!has_others) return Exit::failure;
    note_missing(page, {&report, &run.report()});
    write(output, page, options, report);
    output.commit();
    return Exit::findings;
  }
  TraceReport trace{run, options.report, traced};
  trace.observe();
  trace.add_to(page);
  note_missing(page, {&report, &run.report()});
  write(output, page, options, report);
  const auto exit = run.finish(output);
  return std::max(exit, std::min(report.exit(), Exit::findings));
}

}  // namespace

void add_report_command(CLI::App& app, Exit& exit) {
  add_command<ReportCommandOptions>(
      app, exit,
      {"report", "Write a self-contained HTML report of a trace, disk or hook table",
       "  coldtrace report run.etl -o report.html\n"
       "  coldtrace report run.ctrace --top 1000 -o report.html\n"
       "  coldtrace report disk.img -o disk.html\n"
       "  coldtrace report files.ndjson.zst -o disk.html\n"
       "  coldtrace report tracer.hooktab run.etl disk.img -o all.html\n",
       "  0  the inputs were read to the end\n"
       "  1  damage or loss, or an input that has nothing to report; the rest was\n"
       "     written\n"
       "  2  no input that a page can be made of, or an input cannot be read or the page "
       "written\n"},
      {"html"},
      [](Command& command, ReportCommandOptions& options) {
        command
            .add_input("FILE", options.inputs,
                       "Traces (.etl, .ctrace; several .etl files and folders of them are one "
                       "trace), images of disks or volumes with NTFS, or 'ntfs snapshot' output of "
                       "them, all of these also compressed; hook tables (binary or JSON), system "
                       "call maps (JSON). '-' is standard input")
            .required()
            .type_name("FILE|DIR");
        add_trace_reading_options(command, options);
        add_time_options(command, options.times);
        add_symbol_options(command, options.symbols);
        command.add_option("--top", options.report.top, "Maximum rows of each table")
            .capture_default_str();
        command
            .add_option(
                "--size-limit", options.report.largest,
                "Maximum bytes of the page; beyond it the timeline and the name search show "
                "less and say so")
            .as_size()
            .capture_default_str();
        command
            .add_option("--snapshot-disk", options.disk,
                        "Number by which the trace knows the disk of the image or snapshot")
            .capture_default_str();
        command
            .add_option("--snapshot-offset", options.disk_offset,
                        "Where on the disk the image or snapshot begins")
            .type_name("BYTES")
            .capture_default_str();
        leave_image_readers(command);
      },
      run_report_command);
}

}  // namespace coldtrace::cli
