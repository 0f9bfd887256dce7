#include <map>
#include <set>

#include <fmt/ranges.h>

#include "cli/command/common_options.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "coldtrace/tracefile/providers/registered_providers.hpp"

namespace coldtrace::cli {
namespace {

using schema_files::FileSchemas;
using tracefile::KindCount;
using MessagePdbs = std::set<tracefile::MessagePdb>;

struct TraceSchemasCheckOptions : TraceInputOptions {
  SchemaOptions schemas;
};

// The manifest events of one provider, or the WPP messages of one source file.
struct Checked {
  core::Guid guid;
  std::string name;
  bool is_message = false;
  u64 events = 0, missing_events = 0;
  u64 kinds = 0;
  std::vector<const KindCount*> missing;  // kinds without a schema
  // Where the others' schemas are from: file and version; an empty file is the trace itself, and
  // what is built in.
  std::set<std::pair<std::string, std::string>> sources;
  std::vector<FileSchemas::File> declaring;  // files that have the provider
};

std::vector<Checked> check_providers(const std::vector<KindCount>& kinds,
                                     const schema_files::SchemaFiles& files) {
  std::map<std::pair<core::Guid, bool>, Checked> all;
  for (const auto& count : kinds) {
    const auto& kind = count.kind;
    const bool is_message = kind.event_class == tracefile::EventClass::message;
    if (!is_message && (kind.event_class != tracefile::EventClass::manifest || !kind.looked_up))
      continue;
    auto& provider = all[{kind.provider, is_message}];
    provider.guid = kind.provider;
    provider.is_message = is_message;
    if (provider.name.empty()) provider.name = kind.provider_name;
    provider.events += count.total();
    ++provider.kinds;
    if (kind.schema) {
      provider.sources.emplace(kind.schema->source, kind.schema->source_version);
      continue;
    }
    provider.missing.push_back(&count);
    provider.missing_events += count.total();
  }
  std::vector<Checked> checked;
  for (auto& [key, provider] : all) {
    if (!provider.is_message) provider.declaring = files.declaring(provider.guid);
    checked.push_back(std::move(provider));
  }
  return checked;
}

u64 incomplete(const std::vector<Checked>& providers) {
  u64 count = 0;
  for (const auto& provider : providers) count += provider.missing.empty() ? 0U : 1U;
  return count;
}

std::string file_text(const std::string& file, const std::string& version) {
  if (file.empty()) return "the trace, or built in";
  return version.empty() ? printable(file)
                         : fmt::format("{} {}", printable(file), printable(version));
}

void write_missing_text(Output& output, const Checked& provider, const MessagePdbs& pdbs) {
  std::string ids;
  for (const auto* const count : provider.missing)
    ids += provider.is_message ? fmt::format(" {}", count->kind.id)
                               : fmt::format(" {}.{}", count->kind.id, count->kind.version);
  if (provider.is_message) {
    print(output, "           WPP messages without a format (number):{}\n", ids);
    for (const auto& pdb : pdbs)
      print(output, "           the trace names the PDB {} {} {}\n", printable(pdb.name),
            core::to_string(pdb.guid), pdb.age);
    if (pdbs.empty()) print(output, "           the trace names no PDB with their formats\n");
    return;
  }
  print(output, "           without a schema (id.version):{}\n", ids);
  if (provider.declaring.empty()) {
    const auto files = tracefile::find_registered_files(provider.guid);
    print(output, "           none of the given files declares the provider{}\n",
          files.empty() ? std::string{}
                        : fmt::format("; on Windows {} does", fmt::join(files, " or ")));
  }
  for (const auto& file : provider.declaring)
    print(output, "           declared differently by {}\n",
          file_text(file.path, file.version.value_or("")));
}

void write_text(Output& output, const std::vector<Checked>& providers, const MessagePdbs& pdbs) {
  for (const auto& provider : providers) {
    const auto name = provider.name.empty() ? std::string{"(no name)"} : printable(provider.name);
    if (provider.missing.empty())
      print(output, "ok       {} {}: {}, {}\n", core::to_string(provider.guid), name,
            counted(provider.kinds, "kind", "kinds"), counted(provider.events, "event", "events"));
    else
      print(output, "MISSING  {} {}: {} of {}, {} of {}\n", core::to_string(provider.guid), name,
            grouped(provider.missing.size()), counted(provider.kinds, "kind", "kinds"),
            grouped(provider.missing_events), counted(provider.events, "event", "events"));
    for (const auto& [file, version] : provider.sources)
      print(output, "           from {}\n", file_text(file, version));
    if (!provider.missing.empty()) write_missing_text(output, provider, pdbs);
  }
  print(output, "{} of {} {} schemas\n", incomplete(providers),
        counted(providers.size(), "provider", "providers"),
        incomplete(providers) == 1 || providers.size() == 1 ? "lacks" : "lack");
}

void write_pdbs(JsonWriter& json, const MessagePdbs& pdbs) {
  json.key("message_pdbs").begin_array();
  for (const auto& pdb : pdbs)
    json.object("name", pdb.name, "guid", core::to_string(pdb.guid), "age", pdb.age);
  json.end_array();
}

void write_json(JsonWriter& json, const std::vector<Checked>& providers, const MessagePdbs& pdbs,
                const core::Findings& findings) {
  json.begin_object()
      .field("schema", "coldtrace.trace-schemas-check/1")
      .field("tool", tool_version)
      .field("complete", incomplete(providers) == 0)
      .key("providers")
      .begin_array();
  for (const auto& provider : providers) {
    json.begin_object()
        .field("guid", core::to_string(provider.guid))
        .field("name", text_or_null(provider.name))
        .field("class", provider.is_message ? "message" : "manifest")
        .field("events", provider.events)
        .field("kinds", provider.kinds)
        .field("missing_events", provider.missing_events)
        .key("missing")
        .begin_array();
    for (const auto* const count : provider.missing)
      json.begin_object()
          .field("id", count->kind.id)
          .field("version", version_of(count->kind))
          .field("events", count->total())
          .end_object();
    json.end_array().key("sources").begin_array();
    for (const auto& [file, version] : provider.sources)
      json.begin_object()
          .field("file", text_or_null(file))
          .field("file_version", text_or_null(version))
          .end_object();
    json.end_array().key("windows_files").begin_array();
    for (const auto file : tracefile::find_registered_files(provider.guid)) json.value(file);
    json.end_array().key("declared_by").begin_array();
    for (const auto& file : provider.declaring)
      json.begin_object()
          .field("file", file.path)
          .field("file_version", file.version)
          .field("store", text_or_null(file.store))
          .end_object();
    json.end_array().end_object();
  }
  json.end_array();
  write_pdbs(json, pdbs);
  json.key("findings");
  write_findings(json, findings);
  json.end_object().end_document();
}

Exit run_trace_schemas_check(const TraceSchemasCheckOptions& options) {
  Report report{options.findings};
  auto input = open_trace(options, TraceUse::counts_by_files, report);
  if (!input) return Exit::failure;
  const auto files = find_schema_files(options.schemas, options, input->findings);
  const auto outside =
      files.read(input->trace.schema_keys(), options.schemas.languages,
                 windows_build_of(input->trace), input->findings, &input->trace.schemas());
  tracefile::SchemaChain chain;
  const auto& own = input->trace.schemas();
  chain.append({std::shared_ptr<const void>{}, &own});  // the trace keeps it
  chain.append_alternative(outside);
  schema_files::MessageFiles message_files;
  for (const auto& path : options.schemas.tmf)
    message_files.add(path, schema_files::MessageFiles::Kinds::all, input->findings);
  guard_output(options.output, options.format, message_files.sources());
  const auto& pdbs = input->trace.message_pdbs();
  chain.append_alternative(
      message_files.read(input->trace.schema_keys(), pdbs, input->findings).formats);
  const auto kinds = input->trace.count_kinds(chain);
  const auto providers = check_providers(kinds, files);
  Output output{options.output};
  output.outlive_reader();
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_json(json, providers, pdbs, input->findings);
  } else {
    write_text(output, providers, pdbs);
  }
  output.commit();
  input->tell(report);
  if (incomplete(providers) > 0) report.mismatch();
  return report.exit();
}

}  // namespace

void add_trace_schemas_check(CLI::App& app, Exit& exit) {
  add_command<TraceSchemasCheckOptions>(
      app, exit,
      {"check", "Check which providers of a trace have schemas, and which files declare them",
       "  coldtrace trace schemas check boot.etl --schemas windows.ctschemas\n"
       "  coldtrace trace schemas check boot.etl --schemas windows.ctschemas --format json\n",
       "  0  every manifest event has a schema, every WPP message a format\n"
       "  1  some have none, or the trace or a file is damaged\n"
       "  2  not a trace, or it cannot be read\n"},
      {"text", "json"},
      [](Command& command, TraceSchemasCheckOptions& options) {
        add_trace_input_options(command, options);
        add_schema_options(command, options.schemas);
        add_tmf_option(command, options.schemas);
      },
      run_trace_schemas_check);
}

}  // namespace coldtrace::cli
