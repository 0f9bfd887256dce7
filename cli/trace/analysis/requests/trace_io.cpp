#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/requests/disk_tables.hpp"
#include "cli/trace/analysis/requests/io_tables.hpp"
#include "cli/trace/analysis/requests/request_rows.hpp"
#include "cli/trace/analysis/requests/snapshot_file.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskIo;

struct TraceIoOptions : AnalysisOptions {
  SnapshotOptions snapshot;
  RowOrder order = RowOrder::time;
  u64 top = 20;  // rows of each table in text
};

struct Analyses {
  const DiskIo& disk;
  const trace_analysis::FileIo& files;
  const trace_analysis::NetworkIo& network;
};

class IoWriter {
 public:
  // All must outlive it; no snapshot is null.
  IoWriter(const TraceInput& input, const trace_analysis::Observation& observation,
           const Analyses& analyses, const DiskSnapshot* snapshot, const TraceIoOptions& options,
           Output& output)
      : input_{input},
        observed_{observation.observed()},
        disk_{analyses.disk},
        snapshot_{snapshot},
        options_{options},
        output_{output},
        times_{input.trace.clock(), observation.observed().first},
        requests_{analyses.disk, observation.population(), times_, options.order},
        files_{analyses.files, observation.population(), times_, options.order},
        network_{analyses.network, observation.population(), times_, options.order} {}

  void write_json() {
    JsonWriter json{output_, options_.int64};
    json.begin_object().field("schema", "coldtrace.trace-io/1").field("tool", tool_version);
    write_observed(json, input_.trace, observed_);
    write_snapshot(json);
    json.key("disk");
    requests_.write_json(json);
    json.key("file_operations");
    files_.write_json(json);
    json.key("network");
    network_.write_json(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_text() {
    if (snapshot_ != nullptr)
      print(output_, "Snapshot      {}; it names {}, {} as the trace does, {} differently\n",
            counted(snapshot_->map.files(), "file", "files"),
            counted(disk_.agreement().named, "request", "requests"), disk_.agreement().alike,
            disk_.agreement().unlike);
    requests_.write_text(output_, options_.top);
    if (!files_.empty()) files_.write_text(output_, options_.top);
    if (!network_.empty()) network_.write_text(output_, options_.top);
  }

 private:
  void write_snapshot(JsonWriter& json) const {
    json.key("snapshot");
    if (snapshot_ == nullptr) {
      json.value(std::optional<u64>{});
      return;
    }
    json.begin_object()
        .field("files", u64{snapshot_->map.files()})
        .field("extents", u64{snapshot_->map.extents()})
        .field("whole_disk", snapshot_->whole_disk)
        .field("offset", snapshot_->offset)
        .field("disk", snapshot_->disk)
        .field("named", disk_.agreement().named)
        .field("alike", disk_.agreement().alike)
        .field("unlike", disk_.agreement().unlike)
        .end_object();
  }

  const TraceInput& input_;
  const trace_analysis::Observed& observed_;
  const DiskIo& disk_;
  const DiskSnapshot* snapshot_;
  const TraceIoOptions& options_;
  Output& output_;
  TraceTimes times_;
  DiskTables requests_;
  FileTables files_;
  NetworkTables network_;
};

void note_requests(const Analyses& analyses, AnalysisRun& run) {
  const auto& [disk, files, network] = analyses;
  note_disk_requests(disk, run.findings());
  note_file_requests(files, run.findings());
  note_network_requests(network, run.findings());
  if (disk.all().count() == 0 && disk.requests().open().empty() && files.of_processes().empty() &&
      network.of_processes().empty())
    run.note_no_match("the trace has no requests to disks, file systems or the network",
                      {Need::disk_requests, Need::file_operations, Need::network_transfers});
}

Exit run_trace_io(const TraceIoOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& trace = run.input().trace;
  const SnapshotInput snapshot{options.snapshot, options.names_limit, run.findings(), run.report()};
  if (!snapshot.opened()) return Exit::failure;
  Output output{options.output};
  RequestRows rows{run.input(), run.observation(), output};
  const bool csv = options.format == "csv";
  if (csv) rows.begin();
  DiskIo disk{trace.names(), snapshot.on_disk(), trace_analysis::CounterTicks{trace},
              csv ? DiskIo::Sink{[&](const DiskIo::Row& row) { rows.write(row); }} : nullptr};
  trace_analysis::FileIo files{trace.names()};
  trace_analysis::NetworkIo network;
  run.observe({&disk, &files, &network});
  const Analyses analyses{disk, files, network};
  note_requests(analyses, run);
  IoWriter writer{run.input(), run.observation(), analyses, snapshot.get(), options, output};
  if (options.format == "json") writer.write_json();
  if (options.format == "text") writer.write_text();
  return run.finish(output);
}

}  // namespace

void add_trace_io(CLI::App& app, Exit& exit) {
  add_command<TraceIoOptions>(
      app, exit,
      {"io", "List requests to disks, file systems and the network: by whom, for what, how long",
       "  coldtrace trace io run.etl\n"
       "  coldtrace trace io run.etl --format csv -o requests.csv\n"
       "  coldtrace trace io run.ctrace --snapshot files.ndjson --format json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace has no requests; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, TraceIoOptions& options) {
        add_analysis_options(command, options);
        add_snapshot_options(command, options.snapshot);
        add_sort_option(
            command, options.order,
            "Sort by time (remote addresses by bytes), or by number of requests, most first",
            {"text", "json"});
        command.add_option("--top", options.top, "In text: rows to show per table")
            .for_formats({"text"})
            .capture_default_str();
      },
      run_trace_io);
}

}  // namespace coldtrace::cli
