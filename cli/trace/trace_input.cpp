#include "cli/trace/trace_input.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/command/pipe_progress.hpp"
#include "cli/images/other_kind.hpp"
#include "cli/trace/lines/event_times.hpp"
#include "coldtrace/tracefile/names/version_text.hpp"
#include "coldtrace/tracefile/opening/open_files_limit.hpp"

namespace coldtrace::cli {
namespace {

std::optional<std::string> time_or_null(core::FileTime time) {
  if (time.ticks == 0) return std::nullopt;
  return core::to_string(time);
}

void add_time_option(Command& command, const std::string& name, std::optional<core::FileTime>& time,
                     const std::string& help) {
  command
      .add_option_function<std::string>(
          name, [&time](const std::string& text) { time = core::parse_file_time(text); }, help)
      .check("TIME", check_time);
}

void tell_failure(const std::string& path, const tracefile::TraceFailure& failure,
                  const std::string& wanted, Report& report) {
  const auto& [error, readable, kind, text] = failure;
  if (!text.empty())
    report.failed(path, text);
  else if (kind == core::FileKind::ctrace)
    report.failed(path,
                  fmt::format("a .ctrace file, by its header, whose magic is damaged: {}", error));
  else if (kind != core::FileKind::unknown)
    report.failed(path, describe_other(kind, wanted));
  else if (readable && error.fault == core::Fault::truncated && error.offset > 0)
    report.failed(path,
                  fmt::format("not a complete .etl or .ctrace file: it is cut off: {}", error));
  else if (readable)
    report.failed(path, fmt::format("not {}: {}", wanted, error));
  else
    report.failed(path, error);
}

void add_input(const std::string& path, const TraceInputOptions& options, Report& report,
               std::vector<tracefile::InputFile>& files) {
  core::Findings findings;
  PipeProgress of_pipe;
  const auto piped = options.piped.find(path);
  auto opened = piped == options.piped.end()
                    ? tracefile::open_input(path, options.unpacked_limit, findings, of_pipe.hook())
                    : tracefile::open_input(piped->second, path, options.unpacked_limit, findings);
  if (!opened) {
    report.tell(path, findings);
    tell_failure(path, opened.error(), options.wanted, report);
    return;
  }
  opened->front().findings = std::move(findings);
  std::ranges::move(*opened, std::back_inserter(files));
}

// The files that `given` means, each once.
std::vector<std::string> expand(const std::vector<std::string>& given, Report& report) {
  auto found = tracefile::find_trace_files(given);
  for (const auto& [path, traces, findings] : found.folders) {
    report.tell(path, findings);
    if (!traces)
      report.failed(path, to_message(traces.error()));
    else if (*traces == 0)
      report.failed(path, "a folder without a trace");
  }
  return std::move(found.files);
}

// Empty where none can be opened.
std::vector<tracefile::InputFile> open_inputs(const std::vector<std::string>& given,
                                              const TraceInputOptions& options, Report& report) {
  const auto paths = expand(given, report);
  guard_output(options.output, options.format, paths);
  std::vector<tracefile::InputFile> files;
  if (paths.size() > tracefile::most_trace_files)
    throw Failure{
        fmt::format("{} files: a trace has at most {}", paths.size(), tracefile::most_trace_files)};
  tracefile::raise_open_files(2 * paths.size());
  for (const auto& path : paths) add_input(path, options, report, files);
  if (files.size() > tracefile::most_trace_files)
    throw Failure{
        fmt::format("{} files: a trace has at most {}", files.size(), tracefile::most_trace_files)};
  return files;
}

}  // namespace

std::string check_time(const std::string& text) {
  if (core::parse_file_time(text)) return {};
  return "'" + text + "' is an invalid time; expected one like 2024-02-29T12:34:56Z";
}

void add_trace_input_options(Command& command, TraceInputOptions& options) {
  command
      .add_input(
          "FILE", options.files,
          "The trace: an .etl or .ctrace file, also compressed (gzip, xz, bzip2, Zstandard, "
          "LZ4, ZIP, 7-Zip, tar, cabinet) or from a pipe; '-' is standard input. Several files of "
          "one kind, or folders of them, are one trace; they must be from one boot of one "
          "machine")
      .required()
      .type_name("FILE|DIR");
  add_trace_reading_options(command, options);
}

void add_trace_reading_options(Command& command, TraceInputOptions& options) {
  add_jobs_option(command, options, options.jobs);
  command.add_flag(
      "--force", options.force,
      "Read files together whose headers contradict each other about the machine or "
      "its boot. .etl files with different clocks keep their own times, and the processors "
      "of .ctrace files are numbered separately; analyses refuse both");
  command
      .add_option("--pointer-size", options.pointer_size,
                  "Override the pointer size of every event")
      .one_of_numbers({4, 8});
  command
      .add_option(
          "--unpacked-limit", options.unpacked_limit,
          "Maximum decompressed size of a compressed file (default: 256 MiB and 1,032 times the "
          "file, "
          "up "
          "to 64 GiB) or of a pipe (64 GiB); of a trace also of its compressed buffers (1 MiB and "
          "64 times the file)")
      .as_size();
  command
      .add_option("--names-limit", options.names_limit,
                  "Maximum bytes for names of processes, threads, files, images and registry keys")
      .as_size();
}

void add_time_options(Command& command, tracefile::EventSelection& selection,
                      const std::string& from, const std::string& to) {
  add_time_option(command, "--from", selection.from, from);
  add_time_option(command, "--to", selection.to, to);
}

void add_process_option(Command& command, std::vector<std::string>& processes) {
  command
      .add_option("--process", processes,
                  "Only these processes, by id, or name or glob of the image")
      .list("PROCESS");
}

void add_where_option(Command& command, std::optional<std::string>& where) {
  command
      .add_option_function<std::string>(
          "--where", [&where](const std::string& text) { where = text; },
          "Only events that match the expression, e.g. \"Status != 0 and time < 5s\"")
      .type_name("EXPR");
}

void add_kind_options(Command& command, tracefile::EventSelection& selection) {
  command
      .add_option("--provider", selection.providers,
                  "Only events of these providers, by GUID, name or glob")
      .list("PROVIDER");
  command
      .add_option("--event", selection.events,
                  "Only these events, by id, name, class or glob: 21, Process/Start, Process, *Io*")
      .list("EVENT");
}

void add_selection_options(Command& command, tracefile::EventSelection& selection,
                           std::optional<std::string>& where) {
  add_kind_options(command, selection);
  add_process_option(command, selection.processes);
  command.add_option("--thread", selection.tids, "Only these threads, by id").list("TID");
  add_time_options(command, selection);
  add_where_option(command, where);
}

std::optional<TraceInput> open_trace(const TraceInputOptions& options, TraceUse use,
                                     Report& report) {
  return open_trace(options.files, options, use, report);
}

std::optional<TraceInput> open_trace(const std::vector<std::string>& paths,
                                     const TraceInputOptions& options, TraceUse use,
                                     Report& report) {
  tracefile::AnyTrace::Options trace_options;
  auto& catalog = trace_options.catalog;
  catalog.jobs = options.jobs;
  catalog.pointer_size = options.pointer_size;
  catalog.names = use == TraceUse::lines || use == TraceUse::lines_by_files;
  catalog.kinds = use == TraceUse::counts;
  catalog.schema_keys = use == TraceUse::lines_by_files || use == TraceUse::counts_by_files;
  catalog.largest_names = options.names_limit;
  catalog.largest_unpacked = options.unpacked_limit;
  catalog.sieve = options.sieve;
  trace_options.force = options.force;
  auto files = open_inputs(paths, options, report);
  if (files.empty()) return std::nullopt;
  u64 bytes = 0;
  for (const auto& file : files) bytes += file.bytes->size();
  auto progress = std::make_unique<TerminalProgress>(options.output, options.findings.quiet);
  progress->begin("reading", "events", bytes);
  catalog.progress = progress->hook();
  core::Findings findings;
  auto trace = tracefile::AnyTrace::open(std::move(files), trace_options, findings);
  for (const auto& rejected : trace ? trace->rejected() : trace.error())
    tell_failure(rejected.name, rejected.failure, options.wanted, report);
  if (!trace) return std::nullopt;
  if (options.pointer_size != 0 && trace->ctrace() != nullptr)
    throw Failure{"--pointer-size is for .etl files: a .ctrace file has no events of that kind"};
  TraceInput input{std::move(*trace), std::move(findings), std::move(progress)};
  if (input.has_several_files())
    for (const auto& file : input.trace.files()) report.begin(file.name, file.findings);
  else
    report.begin(input.trace.name(), input.findings);
  return input;
}

core::Progress* TraceInput::begin_progress(const std::string& what) {
  u64 bytes = 0;
  for (const auto& file : trace.files()) bytes += file.bytes->size();
  progress->begin(what, "events", bytes);
  return progress->hook();
}

void TraceInput::tell(Report& report) const {
  if (!has_several_files()) {
    report.read(trace.name(), findings);
    return;
  }
  core::Findings of_files;
  for (const auto& file : trace.files()) {
    report.read(file.name, file.findings);
    of_files.merge(file.findings);
  }
  core::Findings own;
  for (const auto& finding : findings.all())
    if (finding.count > of_files.count(finding.code.view())) {
      if (finding.severity == core::Severity::info)
        own.info(finding.code, finding.first_offset, "{}", finding.text);
      else
        own.warning(finding.code, finding.first_offset, "{}", finding.text);
    }
  report.tell(trace.name(), own);
}

bool check_one_run(const TraceInput& input, Report& report) {
  if (input.trace.is_one_run()) return true;
  report.failed(input.trace.name(),
                "files of several machines or boots, whose threads and processors would be "
                "confused; give those of one");
  return false;
}

std::optional<SystemCallNames> read_trace_call_names(const std::string& path, TraceInput& input,
                                                     Report& report) {
  if (input.trace.ctrace() == nullptr) {
    report.failed(path, "--syscall-map is for .ctrace files");
    return std::nullopt;
  }
  const auto ntdll = tracefile::find_common_ntdll(input.trace.ctrace()->parts());
  if (!ntdll) {
    report.failed(path, "--syscall-map names the calls of one ntdll.dll, but " + ntdll.error());
    return std::nullopt;
  }
  return read_system_call_names(path, *ntdll, input.findings, report);
}

void write_session(JsonWriter& json, const tracefile::AnyTrace& any) {
  write_session(json, any, 0);
}

void write_session(JsonWriter& json, const tracefile::AnyTrace& any, std::size_t file) {
  if (const auto* const trace = any.ctrace())
    write_session(json, *trace, trace->parts()[file]);
  else
    write_session(json, *any.etl(), any.etl()->files()[file]);
}

void write_local_time(JsonWriter& json, const tracefile::BufferScan& scan) {
  const auto local = scan.has_header
                         ? find_local_time(scan.header.time_zone, scan.header.start_time)
                         : std::nullopt;
  if (local)
    json.object("offset_minutes", local->offset, "daylight_saving", local->daylight, "until",
                time_or_null(local->until.value_or(core::FileTime{})));
  else
    json.value(nullptr);
}

void write_session(JsonWriter& json, const tracefile::Trace& trace,
                   const tracefile::ScannedFile& file) {
  const auto& scan = file.scan;
  const auto& header = scan.header;
  // What only the header says is null where that is lost.
  const auto known = [&](const auto& value) {
    return scan.has_header ? std::optional{value} : std::nullopt;
  };
  json.begin_object()
      .field("logger_name", known(header.logger_name))
      .field("log_file_name", known(header.log_file_name))
      .field("start_time", time_or_null(header.start_time))
      .field("end_time", time_or_null(header.end_time))
      .field("boot_time", time_or_null(header.boot_time));
  write_event_times(json, find_event_times(scan, trace.clock()));
  json.field("bias_minutes", known(header.time_zone.bias)).key("local_time");
  write_local_time(json, scan);
  json.field("windows_version", tracefile::find_version_text(header.windows_version()))
      .field("log_version",
             known(fmt::format("{}.{}", header.sub_version, header.sub_minor_version)))
      .field("processors", known(header.processors))
      .field("cpu_mhz", known(header.cpu_speed))
      .field("pointer_size", scan.has_header ? header.pointer_size : scan.pointer_size)
      .field("log_file_mode", known(fmt::format("{:#x}", header.log_file_mode)))
      .field("maximum_file_size", known(header.maximum_file_size))
      .field("buffer_size", known(header.buffer_size))
      .field("buffers_written", known(header.buffers_written))
      .field("buffers", scan.buffers.size())
      .field("compression", to_string(scan.compression))
      .field("events", file.events)
      .field("events_lost", known(header.events_lost))
      .field("buffers_lost", known(header.buffers_lost))
      .field("timer_resolution", known(header.timer_resolution));
  json.key("clock")
      .begin_object()
      .field("type", known(to_string(trace.clock().type())))
      .field("frequency", known(header.performance_frequency))
      .field("first_timestamp", known(scan.first_timestamp))
      .field("time_quality", to_string(trace.time_quality(file)))
      .end_object();
  json.end_object();
}

}  // namespace coldtrace::cli
