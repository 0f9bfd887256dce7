#include "cli/trace/trace_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/images/other_kind.hpp"

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

}  // namespace

std::string check_time(const std::string& text) {
  if (core::parse_file_time(text)) return {};
  return "'" + text + "' is an invalid time; expected one like 2024-02-29T12:34:56Z";
}

void add_trace_input_options(Command& command, TraceInputOptions& options) {
  command
      .add_input("FILE", options.file,
                 "The trace: an .etl or .ctrace file, or one packed with gzip")
      .required();
  add_jobs_option(command, options.jobs);
  command
      .add_option("--pointer-size", options.pointer_size,
                  "Override the pointer size of every event")
      .one_of_numbers({4, 8});
  command
      .add_option(
          "--unpacked-limit", options.unpacked_limit,
          "Maximum decompressed size of a gzip file, in bytes (default: 64 GiB), and of the "
          "compressed buffers of a trace (default: 1 MiB and 64 times the file)")
      .as_size();
  command
      .add_option("--names-limit", options.names_limit,
                  "Most bytes for names of processes, threads, files, images and registry keys")
      .as_size();
}

void add_time_options(Command& command, tracefile::EventSelection& selection,
                      const std::string& from, const std::string& to) {
  add_time_option(command, "--from", selection.from, from);
  add_time_option(command, "--to", selection.to, to);
}

std::optional<TraceInput> open_trace(const TraceInputOptions& options, TraceUse use,
                                     Report& report) {
  tracefile::AnyTrace::Options trace_options;
  trace_options.unpacked_limit = options.unpacked_limit.value_or(trace_options.unpacked_limit);
  auto& catalog = trace_options.catalog;
  catalog.jobs = options.jobs;
  catalog.pointer_size = options.pointer_size;
  catalog.names = use == TraceUse::lines || use == TraceUse::lines_by_files;
  catalog.kinds = use == TraceUse::counts;
  catalog.schema_keys = use == TraceUse::lines_by_files || use == TraceUse::counts_by_files;
  catalog.largest_names = options.names_limit;
  catalog.largest_unpacked = options.unpacked_limit;
  core::Findings findings;
  auto trace = tracefile::AnyTrace::open(options.file, trace_options, findings);
  if (trace) return TraceInput{std::move(*trace), std::move(findings)};
  const auto& [error, readable, kind] = trace.error();
  if (kind == core::FileKind::ctrace)
    report.failed(options.file,
                  fmt::format("a .ctrace file, by its header, whose magic is damaged: {}", error));
  else if (kind != core::FileKind::unknown)
    report.failed(options.file, describe_other(kind, "an .etl or .ctrace file"));
  else if (readable)
    report.failed(options.file, fmt::format("not an .etl or .ctrace file: {}", error));
  else
    report.failed(options.file, error);
  return std::nullopt;
}

std::optional<SystemCallNames> read_trace_call_names(const std::string& path, TraceInput& input,
                                                     Report& report) {
  if (input.trace.ctrace() == nullptr) {
    report.failed(path, "--syscall-map is for .ctrace files");
    return std::nullopt;
  }
  return read_system_call_names(path, input.trace.ctrace()->header().ntdll, input.findings, report);
}

void write_session(JsonWriter& json, const tracefile::AnyTrace& any) {
  if (any.ctrace()) {
    write_session(json, *any.ctrace());
    return;
  }
  const auto& trace = *any.etl();
  const auto& header = trace.header();
  const auto& scan = trace.scan();
  // What only the header says is null where that is lost.
  const auto known = [&](const auto& value) {
    return scan.has_header ? std::optional{value} : std::nullopt;
  };
  json.begin_object()
      .field("logger_name", known(header.logger_name))
      .field("log_file_name", known(header.log_file_name))
      .field("start_time", time_or_null(header.start_time))
      .field("end_time", time_or_null(header.end_time))
      .field("boot_time", time_or_null(header.boot_time))
      .field("bias_minutes", known(header.bias))
      .field("windows_version", known(fmt::format("{}.{}.{}", header.major_version,
                                                  header.minor_version, header.provider_version)))
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
      .field("events", trace.events())
      .field("events_lost", known(header.events_lost))
      .field("buffers_lost", known(header.buffers_lost))
      .field("timer_resolution", known(header.timer_resolution));
  json.key("clock")
      .begin_object()
      .field("type", known(to_string(trace.clock().type())))
      .field("frequency", known(header.performance_frequency))
      .field("first_timestamp", known(scan.first_timestamp))
      .field("time_quality", !scan.has_header              ? "unknown"
                             : trace.clock().approximate() ? "approximate"
                                                           : "exact")
      .end_object();
  json.end_object();
}

}  // namespace coldtrace::cli
