#include <map>
#include <memory>

#include "cli/text.hpp"
#include "cli/trace_commands.hpp"
#include "cli/trace_input.hpp"
#include "cli/version.hpp"
#include "tracefile/trace.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::Decoded;
using tracefile::EventClass;
using tracefile::KindCount;

u64 exact_of(const KindCount& count) {
  return count.events[static_cast<std::size_t>(Decoded::exact)];
}

std::string name_of(const tracefile::EventKind& kind) {
  const auto number = kind.event_class == EventClass::classic
                          ? fmt::format("opcode {} v{}", kind.id, kind.version)
                          : fmt::format("id {} v{}", kind.id, kind.version);
  return kind.name.empty() ? number : fmt::format("{} ({})", printable(kind.name), number);
}

void write_text(Output& output, const tracefile::Trace& trace,
                const std::vector<KindCount>& kinds) {
  const auto& header = trace.header();
  const auto time = [](core::FileTime when) {
    return when.ticks == 0 ? std::string{"not set"} : core::to_string(when);
  };
  print(output, "Session       {} -> {}\n", printable(header.logger_name),
        printable(header.log_file_name));
  print(output, "Time          {} to {}\n", time(header.start_time), time(header.end_time));
  print(output, "Boot          {}, UTC{:+} minutes\n", time(header.boot_time), -i64{header.bias});
  print(output, "Machine       Windows {}.{}.{}, {} processors, {} MHz, {}-bit\n",
        header.major_version, header.minor_version, header.provider_version, header.processors,
        header.cpu_speed, u64{header.pointer_size} * 8);
  print(output, "Clock         {}, {} Hz{}\n", to_string(trace.clock().type()),
        header.performance_frequency, trace.clock().approximate() ? ", approximate" : "");
  print(output, "Buffers       {} of {} bytes, mode {:#x}, compression {}\n",
        trace.scan().buffers.size(), header.buffer_size, header.log_file_mode,
        to_string(trace.scan().compression));
  print(output, "Lost          {} events, {} buffers\n", header.events_lost, header.buffers_lost);
  u64 exact = 0;
  for (const auto& count : kinds) exact += exact_of(count);
  print(output, "Events        {}, {} decode exactly\n", trace.events(), exact);
  core::Guid provider;
  bool first = true;
  for (const auto& count : kinds) {
    if (first || count.kind.provider != provider) {
      provider = count.kind.provider;
      first = false;
      print(output, "\n{} {}\n", core::to_string(provider), printable(count.kind.provider_name));
    }
    const auto reason = count.kind.undecoded == tracefile::Undecoded::none
                            ? std::string_view{}
                            : to_string(count.kind.undecoded);
    print(output, "{:>12} {:>12}  {}{}{}\n", count.total(), exact_of(count), name_of(count.kind),
          reason.empty() ? "" : "  ", reason);
  }
}

void write_kind(JsonWriter& json, const KindCount& count) {
  const auto& kind = count.kind;
  json.begin_object();
  if (kind.name.empty())
    json.field("name", nullptr);
  else
    json.field("name", kind.name);
  json.field(kind.event_class == EventClass::classic ? "opcode" : "id", kind.id)
      .field("version", kind.version)
      .field("events", count.total());
  for (const auto decoded : {Decoded::exact, Decoded::trailing, Decoded::partial, Decoded::raw})
    json.field(to_string(decoded), count.events[static_cast<std::size_t>(decoded)]);
  if (kind.undecoded == tracefile::Undecoded::none)
    json.field("reason", nullptr);
  else
    json.field("reason", to_string(kind.undecoded));
  json.end_object();
}

void write_json(JsonWriter& json, const tracefile::Trace& trace,
                const std::vector<KindCount>& kinds, const core::Findings& findings) {
  json.begin_object()
      .field("schema", "coldtrace.trace-info/1")
      .field("tool", tool_version)
      .field("format", "etl")
      .key("session");
  write_session(json, trace);
  json.key("providers").begin_array();
  for (std::size_t i = 0; i < kinds.size();) {
    const auto& provider = kinds[i].kind;
    json.begin_object().field("guid", core::to_string(provider.provider));
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
    json.end_array().field("events", events).end_object();
  }
  json.end_array().key("findings");
  write_findings(json, findings);
  json.end_object().end_document();
}

Exit run(const TraceInputOptions& options) {
  Report report{options.findings};
  const auto input = open_trace(options, TraceUse::counts, report);
  if (!input) return Exit::failure;
  Output output{options.output};
  const auto& kinds = input->trace->kinds();
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_json(json, *input->trace, kinds, input->findings);
  } else {
    write_text(output, *input->trace, kinds);
  }
  output.commit();
  report.read(options.file, input->findings);
  return report.exit();
}

}  // namespace

void add_trace_info(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<TraceInputOptions>();
  auto* command =
      add_command(app,
                  {"info", "What a trace is: session, machine, clock, loss, and its events by kind",
                   "  coldtrace trace info run.etl\n"
                   "  coldtrace trace info run.etl --format json\n",
                   "  0  the whole trace was read\n"
                   "  1  the trace has damage or loss\n"
                   "  2  not a trace, or it cannot be read\n"},
                  {"text", "json"}, *options);
  add_trace_input_options(*command, *options);
  command->callback([options, &exit] { exit = run(*options); });
}

}  // namespace coldtrace::cli
