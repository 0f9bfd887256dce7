#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/layout/text_table.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_input.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/trace_analysis/comparison/trace_comparison.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::KindTally;
using trace_analysis::PairTally;
using trace_analysis::TraceTally;

struct TraceCompareOptions : TraceInputOptions {
  std::string before;
  std::string after;
  SchemaOptions schemas;
  tracefile::EventSelection selection;
  std::optional<std::string> where;
  trace_analysis::ComparisonOptions comparison;
};

// One of the two traces.
struct Side {
  TraceInput input;
  TraceTally tally;
};

std::optional<Side> read_side(const std::string& path, const TraceCompareOptions& options,
                              Report& report) {
  const auto use = options.schemas.any() ? TraceUse::lines_by_files : TraceUse::lines;
  auto input = open_trace({path}, options, use, report);
  if (!input || !check_one_run(*input, report)) return std::nullopt;
  const TraceSchemas schemas{options.schemas, options, *input};
  tracefile::StreamOptions stream;
  stream.progress = input->begin_progress("counting");
  const auto& trace = input->trace;
  const auto events = trace.stream(stream);
  auto tally = trace_analysis::tally(schemas.context_of(trace), *events, options.selection);
  note_tally(tally, input->findings);
  return Side{std::move(*input), std::move(tally)};
}

// "12.345 events a second".
std::string rate_text(u64 events, const TraceTally& tally) {
  const auto rate = rate_of(events, tally);
  return rate ? fmt::format("{}.{:03}/s", grouped(*rate / 1000), *rate % 1000) : std::string{"-"};
}

std::string provider_text(const std::optional<core::Guid>& guid, const std::string& name) {
  if (!name.empty()) return printable(name);
  return guid ? core::to_string(*guid) : "-";
}

std::optional<core::Guid> guid_of(const KindTally& kind) {
  return provider_of(kind.event_class, kind.provider);
}

std::string kind_text(const KindTally& kind) {
  auto text = provider_text(guid_of(kind), kind.provider_name);
  text += kind.name.empty() ? std::string{" -"} : " " + printable(kind.name);
  if (kind.number)
    text += fmt::format(" ({} {})",
                        kind.event_class == tracefile::EventClass::classic ? "opcode" : "id",
                        *kind.number);
  return text;
}

void write_side_text(Output& output, std::string_view label, const Side& side) {
  const auto& tally = side.tally;
  print(output, "{:<6}  {}: {}{}\n", label, printable(side.input.trace.name()),
        counted(tally.events, "event", "events"),
        tally.duration ? fmt::format(" in {}", duration_text(static_cast<i64>(*tally.duration)))
                       : std::string{});
}

void write_kinds_text(Output& output, const Side& before, const Side& after,
                      const trace_analysis::TraceComparison& comparison) {
  if (comparison.kinds.empty()) return;
  output.write("\n");
  TextTable table{output,
                  {{"", 12, true},
                   {"events before", 13},
                   {"events after", 13},
                   {"rate before", 16},
                   {"rate after", 16}},
                  "event"};
  for (const auto& difference : comparison.kinds)
    table.add(kind_text(difference.kind), to_string(difference.change), grouped(difference.before),
              grouped(difference.after), rate_text(difference.before, before.tally),
              rate_text(difference.after, after.tally));
  table.finish();
}

void write_pairs_text(Output& output, const trace_analysis::TraceComparison& comparison) {
  if (comparison.pairs.empty()) return;
  output.write("\n");
  TextTable table{output,
                  {{"", 12, true},
                   {"pairs before", 13},
                   {"pairs after", 13},
                   {"mean before", 16},
                   {"mean after", 16}},
                  "start to stop"};
  for (const auto& [one, other] : comparison.pairs)
    table.add(fmt::format("{} {}", provider_text(one.provider, one.provider_name),
                          !one.name.empty() ? printable(one.name)
                          : one.task        ? fmt::format("task {}", *one.task)
                                            : "no name"),
              one.mean() < other.mean() ? "slower" : "faster", grouped(one.pairs),
              grouped(other.pairs), duration_text(one.mean()), duration_text(other.mean()));
  table.finish();
}

void write_text(Output& output, const Side& before, const Side& after,
                const trace_analysis::TraceComparison& comparison) {
  write_side_text(output, "before", before);
  write_side_text(output, "after", after);
  write_kinds_text(output, before, after, comparison);
  write_pairs_text(output, comparison);
  print(output, "\nunchanged: {}, {}\n",
        counted(comparison.same_kinds, "kind of event", "kinds of events"),
        counted(comparison.same_pairs, "duration", "durations"));
}

void write_provider(JsonWriter& json, const std::optional<core::Guid>& guid,
                    const std::string& name) {
  json.key("provider")
      .begin_object()
      .field("guid", guid ? std::optional{core::to_string(*guid)} : std::nullopt)
      .field("name", text_or_null(name))
      .end_object();
}

void write_side(JsonWriter& json, const char* name, const Side& side) {
  const auto& tally = side.tally;
  const TraceTimes times{side.input.trace.clock(), tally.first};
  json.key(name)
      .begin_object()
      .field("file", side.input.trace.name())
      .field("format", side.input.trace.format())
      .field("events", tally.events)
      .field("first_event", times.utc(tally.first))
      .field("last_event", times.utc(tally.last))
      .field("duration", tally.duration)
      .key("findings");
  write_findings(json, side.input.findings);
  json.end_object();
}

void write_count(JsonWriter& json, const char* name, u64 events, const TraceTally& tally) {
  const auto rate = rate_of(events, tally);
  json.key(name)
      .begin_object()
      .field("events", events)
      .field("rate", rate ? std::optional{Thousandths{*rate}} : std::nullopt)
      .end_object();
}

void write_duration(JsonWriter& json, const char* name, const PairTally& pair) {
  json.key(name)
      .begin_object()
      .field("pairs", pair.pairs)
      .field("total", pair.total)
      .field("mean", pair.mean())
      .field("longest", pair.longest)
      .end_object();
}

void write_json(JsonWriter& json, const Side& before, const Side& after,
                const TraceCompareOptions& options,
                const trace_analysis::TraceComparison& comparison) {
  json.begin_object()
      .field("schema", "coldtrace.trace-compare/1")
      .field("tool", tool_version)
      .field("same", comparison.same())
      .field("by", options.comparison.by_rate ? "rate" : "count")
      .field("threshold", options.comparison.threshold);
  write_side(json, "before", before);
  write_side(json, "after", after);
  json.key("kinds").begin_array();
  for (const auto& difference : comparison.kinds) {
    const auto& kind = difference.kind;
    json.begin_object().field("change", to_string(difference.change));
    write_provider(json, guid_of(kind), kind.provider_name);
    json.field("name", text_or_null(kind.name));
    json.field(kind.event_class == tracefile::EventClass::classic ? "opcode" : "id", kind.number);
    write_count(json, "before", difference.before, before.tally);
    write_count(json, "after", difference.after, after.tally);
    json.end_object();
  }
  json.end_array().key("durations").begin_array();
  for (const auto& [one, other] : comparison.pairs) {
    json.begin_object();
    write_provider(json, one.provider, one.provider_name);
    json.field("name", text_or_null(one.name.empty() ? other.name : one.name))
        .field("task", one.task);
    write_duration(json, "before", one);
    write_duration(json, "after", other);
    json.end_object();
  }
  json.end_array()
      .field("same_kinds", comparison.same_kinds)
      .field("same_durations", comparison.same_pairs)
      .end_object()
      .end_document();
}

Exit run_trace_compare(const TraceCompareOptions& given) {
  auto options = given;
  if (options.where) {
    options.selection.where = read_where("--where", *options.where);
    if (!options.selection.where) return Exit::failure;
  }
  Report report{options.findings};
  const auto before = read_side(options.before, options, report);
  if (!before) return Exit::failure;
  const auto after = read_side(options.after, options, report);
  if (!after) return Exit::failure;
  const auto comparison = trace_analysis::compare(before->tally, after->tally, options.comparison);
  Output output{options.output};
  output.outlive_reader();
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_json(json, *before, *after, options, comparison);
  } else {
    write_text(output, *before, *after, comparison);
  }
  output.commit();
  before->input.tell(report);
  after->input.tell(report);
  if (!comparison.same()) report.mismatch();
  return report.exit();
}

}  // namespace

void add_trace_compare(CLI::App& app, Exit& exit) {
  add_command<TraceCompareOptions>(
      app, exit,
      {"compare", "Show which events appear, disappear or change between two runs",
       "  coldtrace trace compare before.etl after.etl\n"
       "  coldtrace trace compare monday.zip tuesday.zip --by rate --threshold 20\n"
       "  coldtrace trace compare a.etl b.etl --where 'process == \"app.exe\"' --format json\n",
       "  0  the same events equally often, within the threshold\n"
       "  1  they differ, or a trace has damage or loss\n"
       "  2  not two traces, or one cannot be read, or the expression is wrong\n"},
      {"text", "json"},
      [](Command& command, TraceCompareOptions& options) {
        command
            .add_input(
                "BEFORE", options.before,
                "The first trace: an .etl or .ctrace file, also compressed or from a pipe; '-' "
                "is standard input. Several files of one trace are a folder or an archive")
            .required()
            .type_name("FILE|DIR");
        command.add_input("AFTER", options.after, "The second trace")
            .required()
            .type_name("FILE|DIR");
        add_trace_reading_options(command, options);
        command
            .add_option_function<std::string>(
                "--by",
                [&options](const std::string& by) { options.comparison.by_rate = by == "rate"; },
                "Compare the 'count' of events, or their 'rate', for runs of different lengths. "
                "Events that disappeared are listed first, then those that appeared, then those "
                "that changed, each with the largest difference of counts first")
            .one_of({"count", "rate"});
        add_sort_option(command, options.comparison.order,
                        "Sort durations by the difference of their means, or of their numbers, "
                        "largest first",
                        {"text", "json"});
        command
            .add_option("--threshold", options.comparison.threshold,
                        "Tolerated difference of counts, rates and mean durations, in whole "
                        "percent of the first trace's")
            .in_range(0, 1'000'000)
            .type_name("PERCENT");
        add_where_option(command, options.where);
        add_schema_options(command, options.schemas);
        add_parameters_option(command, options.schemas);
      },
      run_trace_compare);
}

}  // namespace coldtrace::cli
