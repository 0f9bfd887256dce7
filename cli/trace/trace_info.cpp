#include "cli/trace/trace_info.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "cli/command/color_option.hpp"
#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_charts.hpp"
#include "cli/output/text_time.hpp"
#include "cli/trace/kinds_text.hpp"
#include "cli/trace/session_text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/tracefile/names/version_text.hpp"
#include "coldtrace/tracefile/opening/event_times.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::Decoded;
using tracefile::EventClass;
using tracefile::KindCount;

struct TraceInfoOptions : TraceInputOptions {
  SchemaOptions schemas;
  std::string color;
  std::string sort = "count";
  u64 top = 20;
};

// By the trace's own schemas they were counted when it was opened.
std::vector<KindCount> count_kinds(const TraceInput& input, const TraceSchemas* schemas) {
  return schemas != nullptr ? input.trace.count_kinds(schemas->source()) : input.trace.kinds();
}

std::string time_text(core::FileTime when) {
  return when.ticks == 0 ? std::string{"not set"} : zoned_text_time(when);
}

std::string offset_text(i64 minutes) {
  return fmt::format("UTC{}{:02}:{:02}", minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                     std::abs(minutes) % 60);
}

// From the start of the session on, and what it became while the session ran.
std::string local_time_text(const tracefile::LogfileHeader& header,
                            const std::optional<tracefile::EventTimes>& events) {
  const auto& zone = header.time_zone;
  const auto local = find_local_time(zone, header.start_time);
  // Whether daylight saving time had begun the bias does not say.
  if (!local) return "standard time " + offset_text(-i64{zone.bias});
  auto text = "local time " + offset_text(local->offset);
  if (local->daylight) text += ", daylight saving time";
  const auto end = header.end_time.ticks == 0 && events ? events->last : header.end_time;
  if (!local->until || *local->until > end) return text;
  if (const auto then = find_local_time(zone, *local->until))
    text +=
        fmt::format(", {} from {} on", offset_text(then->offset), zoned_text_time(*local->until));
  return text;
}

// The times of events, and how many there were when: those of a buffer count as spread evenly over
// its time.
template <class... Of>
void write_event_times_text(Output& output, const TextCharts& charts, const Of&... of) {
  const auto all = find_event_times(of...);
  if (!all) return;
  print(output, "Event times   {} to {}\n", zoned_text_time(all->first),
        zoned_text_time(all->last));
  if (!charts.shown()) return;
  constexpr std::size_t label = 14, least = 20, most = 80;
  const auto since = [&](core::FileTime when) {
    return static_cast<double>(when.ticks - all->first.ticks);
  };
  ChartSteps steps{0, since(all->last),
                   std::clamp(charts.columns() - std::min(charts.columns(), label), least, most)};
  (void)visit_event_times(of..., [&](const tracefile::EventTimes& times, u64 events) {
    steps.add(since(times.first), since(times.last), static_cast<double>(events));
  });
  print(output, "{:<{}}{}\n", "Activity", label, charts.sparkline(steps.amounts()));
}

void write_session_text(Output& output, const TextCharts& charts, const tracefile::Trace& trace,
                        const tracefile::BufferScan& scan) {
  const auto& header = scan.header;
  if (!scan.has_header) {
    print(output, "Session       the header is lost\n");
    print(output, "Buffers       {}, compression {}\n", grouped(scan.buffers.size()),
          to_string(scan.compression));
    return;
  }
  print(output, "Session       {} -> {}\n", printable(header.logger_name),
        printable(header.log_file_name));
  print(output, "Time          {} to {}\n", time_text(header.start_time),
        time_text(header.end_time));
  write_event_times_text(output, charts, scan, trace.clock());
  print(output, "Boot          {}, {}\n", time_text(header.boot_time),
        local_time_text(header, find_event_times(scan, trace.clock())));
  print(output, "Machine       {}, {}, {} MHz, {}-bit\n",
        windows_text(tracefile::find_version_text(header.windows_version())),
        counted(header.processors, "processor", "processors"), grouped(header.cpu_speed),
        u64{header.pointer_size} * 8);
  print(output, "Clock         {}, {} Hz{}\n", to_string(trace.clock().type()),
        grouped(header.performance_frequency), trace.clock().approximate() ? ", approximate" : "");
  print(output, "Buffers       {} of {}, mode {:#x}, compression {}\n",
        grouped(scan.buffers.size()), size_text(header.buffer_size), header.log_file_mode,
        to_string(scan.compression));
  print(output, "Lost          {}, {}\n", counted(header.events_lost, "event", "events"),
        counted(header.buffers_lost, "buffer", "buffers"));
}

void write_image_text(Output& output, const char* title, const tracefile::TracedImage& image) {
  if (!image.known()) return;
  const auto version = tracefile::find_version_text(image.file_version);
  print(output, "{:<13} {} {}, stamp {:#010x}, size {:#x}\n", title, printable(image.name),
        version ? *version : "(version not stated)", image.time_date_stamp, image.size_of_image);
}

void write_session_text(Output& output, const TextCharts& charts, const tracefile::Ctrace& trace,
                        const tracefile::CtracePart& part) {
  const auto& header = part.header;
  const auto& scan = part.scan;
  print(output, "Session       {}{}{}{}\n", core::to_string(header.session),
        (header.flags & tracefile::CtraceHeader::boot_trace) != 0 ? ", boot trace" : "",
        (header.flags & tracefile::CtraceHeader::wrap_around) != 0 ? ", wrap-around" : "",
        scan.closed ? "" : ", never closed");
  print(output, "Time          {}, boot {}\n", time_text(header.start_time),
        time_text(header.boot_time));
  write_event_times_text(output, charts, trace, part);
  print(output, "Machine       {}, {}, {}-bit\n",
        windows_text(tracefile::find_version_text(header.windows_version)),
        counted(header.processors, "processor", "processors"), u64{header.pointer_size} * 8);
  write_image_text(output, "Kernel", header.kernel);
  write_image_text(output, "System calls", header.ntdll);
  print(output, "Clock         {}, {} Hz, {}", to_string(header.clock), grouped(header.frequency),
        counted(part.pairs, "calibration pair", "calibration pairs"));
  if (const auto bound = trace.error_bound())
    print(output, ", error at most {} ns", grouped(static_cast<u64>(*bound) * 100));
  output.write("\n");
  print(output, "Buffers       {}, {} missing\n", grouped(scan.buffers.size()),
        grouped(scan.missing));
  print(output, "Lost          {}, {} reserved and never committed\n",
        counted(scan.lost, "event", "events"), grouped(scan.uncommitted));
}

void write_sessions_text(Output& output, const TextCharts& charts, const TraceInput& input) {
  const auto& trace = input.trace;
  const auto* const ctrace = trace.ctrace();
  for (std::size_t i = 0; i < trace.files().size(); ++i) {
    if (input.has_several_files())
      print(output, "{}File          {}, {}\n", i > 0 ? "\n" : "", printable(trace.files()[i].name),
            counted(trace.events_of(i), "event", "events"));
    if (ctrace != nullptr)
      write_session_text(output, charts, *ctrace, ctrace->parts()[i]);
    else
      write_session_text(output, charts, *trace.etl(), trace.etl()->files()[i].scan);
  }
  if (input.has_several_files()) output.write("\n");
}

void write_kind(JsonWriter& json, const KindCount& count) {
  const auto& kind = count.kind;
  json.begin_object();
  if (kind.name.empty())
    json.field("name", nullptr);
  else
    json.field("name", kind.name);
  json.field(kind.event_class == EventClass::classic ? "opcode" : "id", number_of(kind))
      .field("version", version_of(kind))
      .field("events", count.total());
  for (const auto decoded : {Decoded::exact, Decoded::trailing, Decoded::partial, Decoded::raw})
    json.field(to_string(decoded), count.events[static_cast<std::size_t>(decoded)]);
  const auto reason = count.undecoded_reason();
  json.field("reason", reason.empty() ? std::nullopt : std::optional{reason}).end_object();
}

void write_files(JsonWriter& json, const TraceInput& input) {
  json.key("files").begin_array();
  for (std::size_t i = 0; i < input.trace.files().size(); ++i) {
    const auto& file = input.trace.files()[i];
    json.begin_object().field("file", file.name).key("session");
    write_session(json, input.trace, i);
    json.key("findings");
    write_findings(json, file.findings);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_trace_info(JsonWriter& json, const TraceInput& input,
                      const std::vector<FailedInput>& failed, const TraceSchemas* schemas) {
  const auto kinds = count_kinds(input, schemas);
  json.begin_object()
      .field("schema", "coldtrace.trace-info/1")
      .field("tool", tool_version)
      .field("format", input.trace.format())
      .key("session");
  write_session(json, input.trace);
  if (input.has_several_files()) write_files(json, input);
  if (schemas != nullptr) schemas->write(json);
  json.key("providers").begin_array();
  for (std::size_t i = 0; i < kinds.size();) {
    const auto& provider = kinds[i].kind;
    json.begin_object().key("guid");
    if (const auto guid = provider_of(provider))
      json.value(core::to_string(*guid));
    else
      json.value(nullptr);
    if (provider.provider_name.empty())
      json.field("name", nullptr);
    else
      json.field("name", provider.provider_name);
    json.key("kinds").begin_array();
    u64 events = 0;
    for (; i < kinds.size() && kinds[i].kind.provider == provider.provider; ++i) {
      events += kinds[i].total();
      write_kind(json, kinds[i]);
    }
    json.end_array().field("events", events);
    if (schemas != nullptr) {
      json.field("schema_files", FileTexts{schemas->files_of(provider.provider)});
      if (const auto* const owner = schemas->provider_of(provider.provider))
        json.key("message_provider")
            .object("guid", core::to_string(owner->guid), "name", owner->name);
    }
    json.end_object();
  }
  json.end_array().key("failed_inputs");
  write_failed_inputs(json, failed);
  json.key("findings");
  write_findings(json, input.findings);
  json.end_object().end_document();
}

namespace {

Exit run_trace_info(const TraceInfoOptions& options) {
  Report report{options.findings};
  const auto use = options.schemas.any() ? TraceUse::counts_by_files : TraceUse::counts;
  auto input = open_trace(options, use, report);
  if (!input) return Exit::failure;
  const TraceSchemas all{options.schemas, options, *input};
  const auto* const schemas = all.any() ? &all : nullptr;
  Output output{options.output};
  const auto& trace = input->trace;
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_trace_info(json, *input, report.failed_inputs(), schemas);
  } else {
    const TextCharts charts{options.output, options.color};
    write_sessions_text(output, charts, *input);
    write_kinds_text(output, charts, trace.events(), count_kinds(*input, schemas), schemas,
                     {.by_count = options.sort == "count", .top = options.top});
  }
  output.commit();
  input->tell(report);
  return report.exit();
}

}  // namespace

void add_trace_info(CLI::App& app, Exit& exit) {
  add_command<TraceInfoOptions>(
      app, exit,
      {"info", "Summarise a trace: session, machine, clock, loss, events by kind",
       "  coldtrace trace info run.etl\n"
       "  coldtrace trace info run.ctrace --format json\n"
       "  coldtrace trace info run.etl --top 100 --sort number\n"
       "  coldtrace trace info boot.etl --schemas /mnt/c/Windows/System32\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss\n"
       "  2  not a trace, or it cannot be read\n"},
      {"text", "json"},
      [](Command& command, TraceInfoOptions& options) {
        add_trace_input_options(command, options);
        add_schema_options(command, options.schemas);
        add_tmf_option(command, options.schemas);
        add_color_option(command, options.color);
        command
            .add_option(
                "--sort", options.sort,
                "In text: sort by number of events, or by provider and event number as in JSON")
            .one_of({"count", "number"})
            .capture_default_str();
        command
            .add_option("--top", options.top,
                        "In text: providers to show, and kinds of events per provider")
            .for_formats({"text"})
            .capture_default_str();
        add_text_time_options(command, options.text);
      },
      run_trace_info);
}

}  // namespace coldtrace::cli
