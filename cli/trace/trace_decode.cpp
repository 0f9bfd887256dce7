#include <memory>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/command/common_options.hpp"
#include "cli/command/parsed_json.hpp"
#include "cli/command/version.hpp"
#include "cli/privacy/key_file.hpp"
#include "cli/privacy/names_option.hpp"
#include "cli/sqlite/json_values.hpp"
#include "cli/trace/lines/event_text.hpp"
#include "cli/trace/symbol_names.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_input.hpp"
#include "cli/trace/trace_pipeline.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/providers/decoding_findings.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "coldtrace/tracefile/stacks/stack_attacher.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::Decoded;
using tracefile::EventClass;
using tracefile::KindCount;

struct TraceDecodeOptions : TraceInputOptions {
  std::string syscall_map;
  SchemaOptions schemas;
  std::optional<std::string> where;
  std::vector<std::string> fields;
  SymbolOptions symbols;
  std::string stacks = "events";
  TracePipelineOptions pipeline;
  NamesOptions names;
  std::string decryption_key_file;

  // Whether members are asked for that text does not show.
  bool lacks_in_text() const {
    return !fields.empty() || pipeline.lines.header_fields || pipeline.lines.schema_files ||
           stacks == "attach";
  }
};

// With the names of the logger hashed, where `names` are.
void write_session_of(JsonWriter& json, const tracefile::AnyTrace& trace, std::size_t file,
                      const privacy::HashedNames* names, Int64 int64) {
  if (names == nullptr) return write_session(json, trace, file);
  constexpr std::size_t longest = std::size_t{16} << 20;
  BufferPool pool;
  Output memory{longest, pool};
  JsonWriter plain{memory, int64};
  write_session(plain, trace, file);
  plain.end_document();
  std::vector<core::TextBuffer> pieces;
  memory.take(pieces);
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  ParsedJson parsed;
  auto& session = parsed.read(text);
  std::vector<std::string> hashes;
  hashes.reserve(2);
  for (const auto* const member : {"logger_name", "log_file_name"}) {
    if (!session.IsObject() || !session.HasMember(member) || !session[member].IsString()) continue;
    hashes.push_back(hashed_text(*names, text_of(session, member)));
    session[member].SetString(rapidjson::StringRef(hashes.back().data(), hashes.back().size()));
  }
  std::vector<core::TextBuffer> hashed(1);
  hashed.front().append(json_of(session));
  json.written(hashed);
}

void write_header(JsonWriter& json, std::string_view schema, const TraceInput& input,
                  const TraceSchemas& schemas, tracefile::Order order,
                  const privacy::HashedNames* names, Int64 int64) {
  json.begin_object()
      .field("type", "header")
      .field("schema", schema)
      .field("tool", tool_version)
      .field("format", input.trace.format())
      .field("order", order == tracefile::Order::time ? "time" : "file");
  write_names_member(json, names);
  json.key("session");
  write_session_of(json, input.trace, 0, names, int64);
  if (const auto& pdbs = input.trace.message_pdbs(); !pdbs.empty() && names == nullptr) {
    json.key("message_pdbs").begin_array();
    for (const auto& pdb : pdbs)
      json.object("name", pdb.name, "guid", core::to_string(pdb.guid), "age", pdb.age);
    json.end_array();
  }
  if (schemas.any()) schemas.write(json);
  json.end_object().end_document();
}

// One of each session; the first has what is of all.
void write_headers(JsonWriter& json, Output& output, bool array, std::string_view schema,
                   const TraceInput& input, const TraceSchemas& schemas, tracefile::Order order,
                   const privacy::HashedNames* names, Int64 int64) {
  if (!input.has_several_files()) {
    write_header(json, schema, input, schemas, order, names, int64);
    return;
  }
  const auto& trace = input.trace;
  for (std::size_t i = 0; i < trace.files().size(); ++i) {
    const auto& file = trace.files()[i];
    if (array && i > 0) output.write(",");
    json.begin_object()
        .field("type", "header")
        .field("schema", schema)
        .field("tool", tool_version)
        .field("format", trace.format())
        .field("order", order == tracefile::Order::time ? "time" : "file")
        .field("file", file.name);
    write_names_member(json, names);
    json.key("session");
    write_session_of(json, trace, i, names, int64);
    if (schemas.any() && i == 0) schemas.write(json);
    json.key("findings");
    write_findings(json, file.findings);
    json.end_object().end_document();
  }
}

void write_undecoded(JsonWriter& json, const KindCount& count, Decoded decoded) {
  const auto events = count.events[static_cast<std::size_t>(decoded)];
  if (events == 0) return;
  const auto& kind = count.kind;
  const auto provider = provider_of(kind);
  json.begin_object()
      .key("provider")
      .begin_object()
      .field("guid", provider ? std::optional{core::to_string(*provider)} : std::nullopt)
      .field("name", text_or_null(kind.provider_name))
      .end_object()
      .field("name", text_or_null(kind.name))
      .field(kind.event_class == EventClass::classic ? "opcode" : "id", number_of(kind))
      .field("version", version_of(kind))
      .field("decoded", to_string(decoded))
      .field("events", events)
      .field("reason", count.undecoded_reason(decoded))
      .end_object();
}

using StackCounts = tracefile::StackAttacher::Counts;

void write_summary(JsonWriter& json, const TracePipelineResult& result,
                   const tracefile::NameTables& names, const StackCounts* stacks,
                   const SymbolNames& symbols, const std::vector<FailedInput>& failed,
                   const core::Findings& findings) {
  std::array<u64, 4> decoded{};
  for (const auto& count : result.kinds)
    for (std::size_t i = 0; i < decoded.size(); ++i) decoded[i] += count.events[i];
  json.begin_object().field("type", "summary").field("complete", true).key("counts");
  json.begin_object()
      .field("events", result.events)
      .field("exact", decoded[0])
      .field("trailing", decoded[1])
      .field("partial", decoded[2])
      .field("raw", decoded[3])
      .field("gaps", result.gaps)
      .field("names", names.entries())
      .field("names_size", names.bytes())
      .end_object();
  if (stacks != nullptr)
    json.key("stacks").object("attached", stacks->attached, "events", stacks->events, "unattached",
                              stacks->unattached);
  if (symbols.any()) symbols.write(json);
  json.key("undecoded").begin_array();
  for (const auto& count : result.kinds)
    for (const auto how : {Decoded::trailing, Decoded::partial, Decoded::raw})
      write_undecoded(json, count, how);
  json.end_array();
  if (!failed.empty()) {
    json.key("failed_inputs");
    write_failed_inputs(json, failed);
  }
  json.key("findings");
  write_findings(json, findings);
  json.end_object().end_document();
}

TraceContext context_of(const tracefile::AnyTrace& trace, const TraceSchemas& schemas,
                        const SystemCallNames* calls, SymbolNames& symbols) {
  auto context = trace_context_of(schemas.context_of(trace));
  context.calls = calls;
  context.functions = symbols.any() ? &symbols : nullptr;
  return context;
}

// Stacks of events before --to may come later than that.
std::unique_ptr<tracefile::EventSequence> open_events(const TraceDecodeOptions& options,
                                                      const TracePipelineOptions& pipeline,
                                                      TraceInput& input) {
  const auto& trace = input.trace;
  auto stream = to_stream_options(pipeline, trace.clock());
  stream.progress = input.begin_progress("decoding");
  stream.sieved = true;
  if (options.stacks != "attach") return trace.stream(stream);
  const bool none = stream.first && stream.last && *stream.last < *stream.first;
  const auto last = stream.last;
  if (!none) stream.last.reset();
  return std::make_unique<tracefile::StackAttacher>(trace.stream(stream), trace.names().stacks(),
                                                    last, pipeline.order == tracefile::Order::time);
}

// What --names, --key-file and --decryption-key-file say.
struct Secrets {
  std::unique_ptr<const privacy::HashedNames> names;  // null: they are as they are
  std::optional<privacy::SealingKey> key;             // of encrypted fields
};

Secrets read_secrets(const TraceDecodeOptions& options) {
  Secrets secrets{options.names.read_key(), std::nullopt};
  const bool key = !options.decryption_key_file.empty();
  if (secrets.names && (options.pipeline.lines.messages || options.symbols.any() || key))
    throw Failure{"--messages, symbol files and --decryption-key-file are for --names plain"};
  if (key) secrets.key = read_sealing_key(options.decryption_key_file);
  return secrets;
}

Exit run_trace_decode(const TraceDecodeOptions& options) {
  if (options.format == "text" && options.lacks_in_text())
    throw Failure{
        "--fields, --header-fields, --schema-files and --stacks attach are for ndjson, json and "
        "csv"};
  const auto secrets = read_secrets(options);
  auto pipeline = options.pipeline;
  pipeline.lines.frames = options.stacks == "attach";
  if (options.where) {
    pipeline.selection.where = read_where("--where", *options.where);
    if (!pipeline.selection.where) return Exit::failure;
  }
  if (!options.fields.empty()) {
    auto chosen = ChosenMembers::parse(options.fields);
    if (!chosen) throw Failure{"--fields: " + chosen.error()};
    pipeline.lines.header_fields |= chosen->header_fields();
    pipeline.lines.chosen = std::move(*chosen);
  }
  Report report{options.findings};
  auto schema_options = options.schemas;
  schema_options.pdbs = options.symbols.pdbs;
  const auto use = schema_options.any() ? TraceUse::lines_by_files : TraceUse::lines;
  // Attached stacks need the events behind those that are wanted.
  const auto sieve = options.stacks == "attach" ? nullptr : make_sieve(pipeline.selection);
  TraceInputOptions reading = options;
  reading.sieve = sieve.get();
  auto input = open_trace(reading, use, report);
  if (!input) return Exit::failure;
  const TraceSchemas schemas{schema_options, options, *input};
  pipeline.selection.providers = schemas.with_message_guids(pipeline.selection.providers);
  std::optional<SystemCallNames> calls;
  if (!options.syscall_map.empty()) {
    calls = read_trace_call_names(options.syscall_map, *input, report);
    if (!calls) return Exit::failure;
  }
  SymbolNames symbols{input->trace.names(), options.symbols, input->findings, report,
                      schemas.message_pdbs()};
  Output output{options.output};
  JsonWriter json{output, options.int64};
  pipeline.jobs = options.jobs;
  pipeline.lines.int64 = options.int64;
  const bool array = options.format == "json";
  const bool csv = options.format == "csv";
  const bool text = options.format == "text";
  pipeline.lines.format = text    ? TraceFormat::text
                          : csv   ? TraceFormat::csv
                          : array ? TraceFormat::json
                                  : TraceFormat::ndjson;
  fit_event_text(options.output.columns);
  if (array) output.write("[");
  if (csv)
    output.write(pipeline.lines.chosen ? pipeline.lines.chosen->csv_header()
                                       : trace_csv_header(input->has_several_files()));
  else if (text)
    output.write(event_text_heading());
  else
    write_headers(json, output, array,
                  pipeline.lines.chosen ? "coldtrace.trace-members/1" : "coldtrace.trace/1", *input,
                  schemas, pipeline.order, secrets.names.get(), options.int64);
  auto context = context_of(input->trace, schemas, calls ? &*calls : nullptr, symbols);
  context.hashed = secrets.names.get();
  context.sealing_key = secrets.key ? &*secrets.key : nullptr;
  const LineMembers members{context.calls, context.functions};
  if (pipeline.selection.where) pipeline.selection.where->lines = &members;
  const auto events = open_events(options, pipeline, *input);
  const auto result = write_trace(context, *events, pipeline, output);
  result.unmatched.report(input->findings);
  tracefile::note_cut_names(result.cut_names, input->findings);
  tracefile::note_other_schemas(result.other_schemas, input->findings);
  tracefile::note_sealed_fields(result.still_sealed, input->findings);
  tracefile::note_unread_buffers(events->unread_buffers(), input->findings);
  const auto* const attacher = dynamic_cast<const tracefile::StackAttacher*>(events.get());
  const auto* const stacks = attacher != nullptr ? &attacher->counts() : nullptr;
  if (attacher != nullptr) note_unattached(*attacher, input->findings);
  if (!csv && !text) {
    if (array) output.write(",");
    write_summary(json, result, context.names, stacks, symbols, report.failed_inputs(),
                  input->findings);
    if (array) output.write("]\n");
  }
  output.commit();
  symbols.finish(report);
  input->tell(report);
  return report.exit();
}

}  // namespace

void add_trace_decode(CLI::App& app, Exit& exit) {
  add_command<TraceDecodeOptions>(
      app, exit,
      {"decode", "Decode every event of a trace, with its names and fields",
       "  coldtrace trace decode run.etl\n"
       "  coldtrace trace decode run.ctrace\n"
       "  coldtrace trace decode run.kernel.etl run.user.etl\n"
       "  coldtrace trace decode boot.etl.zip\n"
       "  coldtrace trace decode run.etl --event Process -o processes.csv\n"
       "  coldtrace trace decode run.etl --provider Microsoft-Windows-DotNETRuntime --process "
       "4711\n"
       "  coldtrace trace decode run.etl --where 'TransferSize >= 64KiB and time in 1s..2s'\n"
       "  coldtrace trace decode boot.etl --schemas /mnt/c/Windows/System32\n"
       "  coldtrace trace decode run.etl --event PerfInfo --stacks attach --pdb symbols\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, or lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"ndjson", "json", "csv", "text"},
      [](Command& command, TraceDecodeOptions& options) {
        add_trace_input_options(command, options);
        command
            .add_option_function<std::string>(
                "--order",
                [&options](const std::string& order) {
                  options.pipeline.order =
                      order == "file" ? tracefile::Order::file : tracefile::Order::time;
                },
                "Order of events: by 'time' across processors, or 'file' order")
            .one_of({"time", "file"});
        command.add_flag(
            "--header-fields", options.pipeline.lines.header_fields,
            "Also header type, place, size, channel, task and CPU times of each event");
        command.add_flag("--schema-files", options.pipeline.lines.schema_files,
                         "Also the file that the schema of each event comes from");
        command.add_flag("--messages", options.pipeline.lines.messages,
                         "Also the provider's message for each event, with its values");
        add_schema_options(command, options.schemas);
        add_parameters_option(command, options.schemas);
        add_tmf_option(command, options.schemas);
        command
            .add_option("--fields", options.fields,
                        "Only these members and fields of each event, in this order: "
                        "time,pid,ImageFileName,Address.Port")
            .list("NAME");
        command
            .add_option("--stacks", options.stacks,
                        "Print stacks as separate 'events', or 'attach' them to their event, each "
                        "frame with module, function and source")
            .one_of({"attach", "events"})
            .capture_default_str();
        add_names_options(command, options.names);
        command
            .add_input("--decryption-key-file", options.decryption_key_file,
                       "The 32-byte key of encrypted fields, such as key presses")
            .type_name("FILE");
        add_symbol_options(command, options.symbols);
        command.add_input(
            "--syscall-map", options.syscall_map,
            "Name system calls of a .ctrace file from ntdll.dll or the JSON of 'syscalls map'");
        command.text_lacks([&options] { return options.lacks_in_text(); });
        add_selection_options(command, options.pipeline.selection, options.where);
        command.add_option("--limit", options.pipeline.limit, "Stop after this many events");
      },
      run_trace_decode);
}

}  // namespace coldtrace::cli
