#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "cli/trace/analysis/io_tables.hpp"
#include "cli/trace/analysis/snapshot_file.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/disk_io.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskAction;
using trace_analysis::DiskIo;
using trace_analysis::DiskSums;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::Population;

struct Options : AnalysisOptions {
  SnapshotOptions snapshot;
  u64 top = 20;  // rows of each table in text
};

// Who issued a request, as far as the trace tells.
struct Issuer {
  std::optional<u32> tid, pid;
  std::string process;  // may be empty
};

Issuer issuer_of(const DiskIo::Row& row, const Population& population,
                 const tracefile::NameTables& names) {
  Issuer issuer;
  if (row.request.thread == nobody) return issuer;
  const auto& thread = population.threads()[row.request.thread];
  issuer.tid = thread.tid;
  if (thread.process != nobody) {
    issuer.pid = population.processes()[thread.process].pid;
    issuer.process = population.processes()[thread.process].image_name;
  } else {
    issuer.pid = names.find_process_of(thread.tid, row.request.end.time);
  }
  if (issuer.process.empty() && issuer.pid)
    issuer.process = names.find_process(*issuer.pid, row.request.end.time).value_or("");
  return issuer;
}

std::string priority_text(u8 priority) {
  const auto name = trace_analysis::io_priority_name(priority);
  return name.empty() ? fmt::format("{}", priority) : std::string{name};
}

// Requests as rows, while the trace is read.
class RequestRows {
 public:
  RequestRows(const TraceInput& input, const trace_analysis::Observation& observation,
              Output& output)
      : names_{input.trace.names()},
        clock_{input.trace.clock()},
        observation_{observation},
        output_{output} {}

  void begin() {
    output_.write(
        "end,response,service,queue,disk,action,offset,bytes,priority,status,file,snapshot_file,"
        "snapshot_state,process,pid,tid,buffer,event_offset\n");
  }

  void write(const DiskIo::Row& row) {
    const auto& request = row.request;
    const auto issuer = issuer_of(row, observation_.population(), names_);
    std::optional<i64> queue;
    if (request.service) queue = duration(*request.response) - duration(*request.service);
    const auto time =
        TraceTimes{clock_, observation_.observed().first}.since_start(request.end.time);
    print(output_, "{},{},{},{},{},{},{},{},{},{}", time.substr(1),
          cell(duration(request.response)), cell(duration(request.service)), cell(queue),
          cell(request.disk), to_string(request.action), cell(request.offset), cell(request.bytes),
          request.priority ? priority_text(*request.priority) : "", cell(request.status));
    print(output_, ",{},{},{},{},{},{},{},{}\n", csv_field(row.traced_name),
          csv_field(row.snapshot != nullptr ? row.snapshot->path : ""),
          row.snapshot != nullptr ? to_string(row.snapshot->state) : "", csv_field(issuer.process),
          cell(issuer.pid), cell(issuer.tid), request.end.place.buffer, request.end.place.offset);
  }

 private:
  template <class T>
  static std::string cell(const std::optional<T>& value) {
    return value ? fmt::format("{}", *value) : std::string{};
  }
  i64 duration(i64 ticks) const { return clock_.to_duration(ticks); }
  std::optional<i64> duration(std::optional<i64> ticks) const {
    if (!ticks) return std::nullopt;
    return duration(*ticks);
  }

  const tracefile::NameTables& names_;
  const tracefile::Clock& clock_;
  const trace_analysis::Observation& observation_;
  Output& output_;
};

struct Analyses {
  const DiskIo& disk;
  const trace_analysis::FileIo& files;
  const trace_analysis::NetworkIo& network;
};

class IoWriter {
 public:
  IoWriter(const TraceInput& input, const trace_analysis::Observation& observation,
           const Analyses& analyses, const DiskSnapshot* snapshot, const Options& options,
           Output& output)
      : input_{input},
        observation_{observation},
        disk_{analyses.disk},
        snapshot_{snapshot},
        options_{options},
        output_{output},
        population_{observation.population()},
        times_{input.trace.clock(), observation.observed().first},
        files_{analyses.files, population_, times_},
        network_{analyses.network, population_, times_} {}

  void write_json() {
    JsonWriter json{output_, options_.int64};
    json.begin_object().field("schema", "coldtrace.trace-io/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    write_snapshot(json);
    json.key("disk").begin_object();
    write_counts(json);
    json.key("disks").begin_array();
    for (const auto& [number, one] : disk_.disks()) {
      json.begin_object().field("disk", number).field("busy", duration(one.busy.total()));
      write_sums(json, one.sums);
      json.end_object();
    }
    json.end_array().key("files").begin_array();
    for (const auto number : files_by_response()) write_file(json, number);
    json.end_array().key("processes").begin_array();
    for (const auto& [index, sums] : disk_.of_processes()) {
      json.begin_object();
      write_process_members(json, population_, times_, index);
      write_sums(json, sums);
      json.end_object();
    }
    json.end_array().key("threads").begin_array();
    for (const auto& [index, sums] : disk_.of_threads()) {
      json.begin_object();
      write_thread(json, index);
      write_sums(json, sums);
      json.end_object();
    }
    json.end_array().key("priorities").begin_array();
    for (const auto& [priority, sums] : disk_.of_priorities()) {
      json.begin_object().field("priority",
                                priority ? std::optional{priority_text(*priority)} : std::nullopt);
      write_sums(json, sums);
      json.end_object();
    }
    json.end_array();
    write_histogram(json, "sizes", disk_.sizes(), false);
    write_histogram(json, "responses", disk_.all().responses, true);
    write_open(json);
    json.end_object().key("file_operations");
    files_.write_json(json);
    json.key("network");
    network_.write_json(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_text() {
    const auto& all = disk_.all();
    print(output_, "Disk requests {}, {} bytes read, {} bytes written, {} still open\n",
          all.count(), all.bytes_read, all.bytes_written, disk_.requests().open().size());
    if (snapshot_ != nullptr)
      print(output_,
            "Snapshot      {} files; it names {} requests, {} as the trace does, {} otherwise\n",
            snapshot_->map.files(), disk_.agreement().named, disk_.agreement().alike,
            disk_.agreement().unlike);
    if (!disk_.disks().empty()) write_disk_text();
    write_open_text();
    if (!files_.empty()) files_.write_text(output_, options_.top);
    if (!network_.empty()) network_.write_text(output_, options_.top);
  }

 private:
  void write_disk_text() {
    write_heading("disk, busy");
    for (const auto& [number, one] : disk_.disks())
      write_line(one.sums, fmt::format("{}, {}", number ? fmt::format("disk {}", *number) : "-",
                                       seconds(one.busy.total())));
    if (disk_.all().count() == 0) return;
    write_heading("priority");
    for (const auto& [priority, sums] : disk_.of_priorities())
      write_line(sums, priority ? priority_text(*priority) : "-");
    write_heading("process");
    std::vector<std::pair<std::string, const DiskSums*>> rows;
    for (const auto& [index, sums] : disk_.of_processes())
      rows.emplace_back(process_text(population_, index), &sums);
    write_rows(rows, "process", "processes");
    write_heading("file");
    rows.clear();
    for (const auto number : files_by_response())
      rows.emplace_back(file_text(number), &disk_.of_files()[number]);
    write_rows(rows, "file", "files");
  }

  // Those that are open longest first.
  void write_open_text() {
    const auto open = disk_.requests().open();
    if (open.empty()) return;
    print(output_, "\n{:>14} {:>6} {:>5} {:>15} {:>10}  {}\n", "open since", "what", "disk",
          "offset", "bytes", "thread");
    const auto shown = std::min<std::size_t>(open.size(), options_.top);
    for (std::size_t i = 0; i < shown; ++i)
      print(output_, "{:>14} {:>6} {:>5} {:>15} {:>10}  {}\n",
            times_.since_start(open[i].moment.time), to_string(open[i].action),
            number_text(open[i].disk), number_text(open[i].offset), number_text(open[i].bytes),
            thread_text(open[i].thread));
    write_more(output_, open.size() - shown, "open request", "open requests");
  }

  std::string thread_text(Index index) const {
    if (index == nobody) return "-";
    const auto& thread = population_.threads()[index];
    return fmt::format("{} of {}", thread.tid, process_text(population_, thread.process));
  }

  template <class T>
  static std::string number_text(const std::optional<T>& number) {
    return number ? fmt::format("{}", *number) : "-";
  }

  std::vector<u32> files_by_response() const {
    std::vector<u32> numbers;
    for (u32 i = 0; i < disk_.of_files().size(); ++i)
      if (disk_.of_files()[i].count() > 0) numbers.push_back(i);
    std::stable_sort(numbers.begin(), numbers.end(), [this](u32 a, u32 b) {
      return disk_.of_files()[a].response > disk_.of_files()[b].response;
    });
    return numbers;
  }

  std::string file_text(u32 number) const {
    const auto& file = disk_.files()[number];
    if (number == 0) return "-";
    if (!file.from_snapshot) return printable(file.name);
    return fmt::format("{} (snapshot, {})", printable(file.name), to_string(file.state));
  }

  void write_heading(std::string_view what) {
    print(output_, "\n{:>8} {:>8} {:>13} {:>13} {:>12} {:>12} {:>12} {:>10} {:>10} {:>10}  {}\n",
          "reads", "writes", "bytes read", "written", "response", "service", "queue", "p50", "p99",
          "longest", what);
  }

  void write_line(const DiskSums& sums, std::string_view what) {
    const auto of = [&](DiskAction action) {
      return sums.requests[static_cast<std::size_t>(action)];
    };
    print(output_, "{:>8} {:>8} {:>13} {:>13} {:>12} {:>12} {:>12} {:>10} {:>10} {:>10}  {}\n",
          of(DiskAction::read), of(DiskAction::write), sums.bytes_read, sums.bytes_written,
          seconds(sums.response), seconds(sums.service), seconds(sums.queue),
          percentile_text(sums, 50), percentile_text(sums, 99),
          sums.responses.count() == 0 ? "-" : seconds(static_cast<i64>(sums.responses.greatest())),
          what);
  }

  void write_rows(std::vector<std::pair<std::string, const DiskSums*>> rows, std::string_view one,
                  std::string_view several) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second->response > b.second->response;
    });
    const auto shown = std::min<std::size_t>(rows.size(), options_.top);
    for (std::size_t i = 0; i < shown; ++i) write_line(*rows[i].second, rows[i].first);
    write_more(output_, rows.size() - shown, one, several);
  }

  std::string percentile_text(const DiskSums& sums, unsigned percent) const {
    const auto value = sums.responses.percentile(percent);
    return value ? seconds(static_cast<i64>(*value)) : "-";
  }

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

  void write_counts(JsonWriter& json) const {
    const auto& counts = disk_.requests().counts();
    json.key("counts")
        .begin_object()
        .field("requests", counts.requests)
        .field("open", u64{disk_.requests().open().size()})
        .field("untimed", counts.untimed)
        .field("lone_ends", counts.lone_ends)
        .field("lost_ends", counts.lost_ends)
        .field("contradictory", counts.contradictory)
        .field("inferred_threads", counts.inferred)
        .field("reused_threads", counts.reused_threads)
        .end_object();
  }

  void write_sums(JsonWriter& json, const DiskSums& sums) const {
    const auto of = [&](DiskAction action) {
      return sums.requests[static_cast<std::size_t>(action)];
    };
    const auto at = [&](unsigned percent) -> std::optional<i64> {
      const auto value = sums.responses.percentile(percent);
      if (!value) return std::nullopt;
      return duration(static_cast<i64>(*value));
    };
    std::optional<i64> longest;
    if (sums.responses.count() > 0) longest = duration(static_cast<i64>(sums.responses.greatest()));
    json.field("reads", of(DiskAction::read))
        .field("writes", of(DiskAction::write))
        .field("flushes", of(DiskAction::flush))
        .field("others", of(DiskAction::other))
        .field("failed", sums.failed)
        .field("bytes_read", sums.bytes_read)
        .field("bytes_written", sums.bytes_written)
        .field("timed", sums.responses.count())
        .field("response", duration(sums.response))
        .field("p50", at(50))
        .field("p90", at(90))
        .field("p99", at(99))
        .field("longest", longest)
        .field("served", sums.served)
        .field("service", duration(sums.service))
        .field("queue", duration(sums.queue));
  }

  void write_file(JsonWriter& json, u32 number) const {
    const auto& file = disk_.files()[number];
    std::optional<std::string> name, named_by, state;
    if (number != 0) {
      name = file.name;
      named_by = file.from_snapshot ? "snapshot" : "trace";
      if (file.from_snapshot) state = to_string(file.state);
    }
    json.begin_object().field("file", name).field("named_by", named_by).field("state", state);
    write_sums(json, disk_.of_files()[number]);
    json.end_object();
  }

  void write_thread(JsonWriter& json, Index index) const {
    std::optional<u32> tid, pid;
    std::optional<i64> start;
    if (index != nobody) {
      const auto& thread = population_.threads()[index];
      tid = thread.tid;
      start = thread.life.start;
      if (thread.process != nobody) pid = population_.processes()[thread.process].pid;
    }
    json.field("tid", tid).field("pid", pid).field("start", times_.utc(start));
  }

  void write_histogram(JsonWriter& json, std::string_view name,
                       const trace_analysis::Histogram& histogram, bool is_time) const {
    json.key(name).begin_array();
    for (const auto& step : histogram.steps()) {
      const auto up_to = static_cast<i64>(
          std::min<u64>(step.greatest, static_cast<u64>(std::numeric_limits<i64>::max())));
      json.object("up_to", is_time ? duration(up_to) : up_to, "requests", step.count);
    }
    json.end_array();
  }

  void write_open(JsonWriter& json) const {
    json.key("open").begin_array();
    for (const auto& start : disk_.requests().open()) {
      json.begin_object();
      write_thread(json, start.thread);
      json.field("since", times_.utc(start.moment.time))
          .field("action", to_string(start.action))
          .field("disk", start.disk)
          .field("offset", start.offset)
          .field("bytes", start.bytes)
          .key("event")
          .begin_object()
          .field("buffer", start.moment.place.buffer)
          .field("offset", start.moment.place.offset)
          .end_object()
          .end_object();
    }
    json.end_array();
  }

  i64 duration(i64 ticks) const { return times_.duration(ticks); }
  std::string seconds(i64 ticks) const { return times_.seconds(ticks); }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const DiskIo& disk_;
  const DiskSnapshot* snapshot_;
  const Options& options_;
  Output& output_;
  const Population& population_;
  TraceTimes times_;
  FileTables files_;
  NetworkTables network_;
};

void note_requests(const Analyses& analyses, AnalysisRun& run) {
  const auto& [disk, files, network] = analyses;
  note_disk_requests(disk, run.findings());
  note_file_and_network(files, network, run.findings());
  if (disk.all().count() == 0 && disk.requests().open().empty() && files.of_processes().empty() &&
      network.of_processes().empty())
    run.note_no_match(
        "the trace has no requests to disks, file systems or the network (DISK_IO, "
        "FILE_IO and NETWORK_TCPIP of the kernel's flags)");
}

Exit run(const Options& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& trace = run.input().trace;
  std::optional<DiskSnapshot> snapshot;
  std::optional<DiskIo::Snapshot> map;
  if (!options.snapshot.file.empty()) {
    snapshot =
        read_disk_snapshot(options.snapshot, options.names_limit, run.findings(), run.report());
    if (!snapshot) return Exit::failure;
    map.emplace(DiskIo::Snapshot{snapshot->map, snapshot->disk});
  }
  Output output{options.output};
  RequestRows rows{run.input(), run.observation(), output};
  const bool csv = options.format == "csv";
  if (csv) rows.begin();
  DiskIo disk{trace.names(), map, trace_analysis::CounterTicks{trace},
              csv ? DiskIo::Sink{[&](const DiskIo::Row& row) { rows.write(row); }} : nullptr};
  trace_analysis::FileIo files{trace.names()};
  trace_analysis::NetworkIo network;
  run.observe({&disk, &files, &network});
  const Analyses analyses{disk, files, network};
  note_requests(analyses, run);
  IoWriter writer{
      run.input(), run.observation(), analyses, snapshot ? &*snapshot : nullptr, options, output};
  if (options.format == "json") writer.write_json();
  if (options.format == "text") writer.write_text();
  return run.finish(output);
}

}  // namespace

void add_trace_io(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"io", "Requests to disks, file systems and the network, by whom, for what, how long",
       "  coldtrace trace io run.etl\n"
       "  coldtrace trace io run.etl --format csv -o requests.csv\n"
       "  coldtrace trace io run.ctrace --snapshot files.ndjson --format json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace has no requests; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, Options& options) {
        add_analysis_options(command, options);
        add_snapshot_options(command, options.snapshot);
        command.add_option("--top", options.top, "In text: files and processes that are shown")
            .capture_default_str();
      },
      run);
}

}  // namespace coldtrace::cli
