#include <map>
#include <set>

#include <fmt/ranges.h>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/tracefile/providers/registered_providers.hpp"

namespace coldtrace::cli {
namespace {

using schema_files::FileSchemas;
using tracefile::Decoded;
using tracefile::KindCount;

struct Options : TraceInputOptions {
  SchemaOptions schemas;
};

// The manifest events of one provider.
struct Checked {
  core::Guid guid;
  std::string name;
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
  std::map<core::Guid, Checked> all;
  for (const auto& count : kinds) {
    const auto& kind = count.kind;
    if (kind.event_class != tracefile::EventClass::manifest || !kind.looked_up) continue;
    auto& provider = all[kind.provider];
    provider.guid = kind.provider;
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
  for (auto& [guid, provider] : all) {
    provider.declaring = files.declaring(guid);
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

void write_text(Output& output, const std::vector<Checked>& providers) {
  for (const auto& provider : providers) {
    const auto name = provider.name.empty() ? std::string{"(no name)"} : printable(provider.name);
    if (provider.missing.empty())
      print(output, "ok       {} {}: {} kinds, {} events\n", core::to_string(provider.guid), name,
            provider.kinds, provider.events);
    else
      print(output, "MISSING  {} {}: {} of {} kinds, {} of {} events\n",
            core::to_string(provider.guid), name, provider.missing.size(), provider.kinds,
            provider.missing_events, provider.events);
    for (const auto& [file, version] : provider.sources)
      print(output, "           from {}\n", file_text(file, version));
    if (provider.missing.empty()) continue;
    std::string ids;
    for (const auto* const count : provider.missing)
      ids += fmt::format(" {}.{}", count->kind.id, count->kind.version);
    print(output, "           without a schema (id.version):{}\n", ids);
    if (provider.declaring.empty()) {
      const auto files = tracefile::find_registered_files(provider.guid);
      print(output, "           no file that is named declares the provider{}\n",
            files.empty() ? std::string{}
                          : fmt::format("; on Windows {} does", fmt::join(files, " or ")));
    }
    for (const auto& file : provider.declaring)
      print(output, "           declared otherwise by {}\n",
            file_text(file.path, file.version.value_or("")));
  }
  print(output, "{} of {} providers lack schemas\n", incomplete(providers), providers.size());
}

void write_json(JsonWriter& json, const std::vector<Checked>& providers,
                const core::Findings& findings) {
  const auto text = [](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional{name};
  };
  json.begin_object()
      .field("schema", "coldtrace.trace-schemas-check/1")
      .field("tool", tool_version)
      .field("complete", incomplete(providers) == 0)
      .key("providers")
      .begin_array();
  for (const auto& provider : providers) {
    json.begin_object()
        .field("guid", core::to_string(provider.guid))
        .field("name", text(provider.name))
        .field("events", provider.events)
        .field("kinds", provider.kinds)
        .field("missing_events", provider.missing_events)
        .key("missing")
        .begin_array();
    for (const auto* const count : provider.missing)
      json.begin_object()
          .field("id", count->kind.id)
          .field("version", count->kind.version)
          .field("events", count->total())
          .end_object();
    json.end_array().key("sources").begin_array();
    for (const auto& [file, version] : provider.sources)
      json.begin_object()
          .field("file", text(file))
          .field("file_version", text(version))
          .end_object();
    json.end_array().key("windows_files").begin_array();
    for (const auto file : tracefile::find_registered_files(provider.guid)) json.value(file);
    json.end_array().key("declared_by").begin_array();
    for (const auto& file : provider.declaring)
      json.begin_object()
          .field("file", file.path)
          .field("file_version", file.version)
          .field("store", text(file.store))
          .end_object();
    json.end_array().end_object();
  }
  json.end_array().key("findings");
  write_findings(json, findings);
  json.end_object().end_document();
}

Exit run(const Options& options) {
  Report report{options.findings};
  auto input = open_trace(options, TraceUse::counts_by_files, report);
  if (!input) return Exit::failure;
  const auto files = find_schema_files(options.schemas, options, input->findings);
  const auto outside = files.read(input->trace.schema_keys(), options.schemas.languages,
                                  windows_build_of(input->trace), input->findings);
  tracefile::SchemaChain chain;
  const auto& own = input->trace.schemas();
  chain.append({std::shared_ptr<const void>{}, &own});  // the trace keeps it
  chain.append_alternative(outside);
  const auto kinds = input->trace.count_kinds(chain);
  const auto providers = check_providers(kinds, files);
  Output output{options.output};
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_json(json, providers, input->findings);
  } else {
    write_text(output, providers);
  }
  output.commit();
  input->tell(report);
  if (incomplete(providers) > 0) report.mismatch();
  return report.exit();
}

}  // namespace

void add_trace_schemas_check(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"check", "Check which providers of a trace have schemas, and which files declare them",
       "  coldtrace trace schemas check boot.etl --schemas windows.ctschemas\n"
       "  coldtrace trace schemas check boot.etl --schemas windows.ctschemas --format json\n",
       "  0  every manifest event has a schema\n"
       "  1  some have none, or the trace or a file is damaged\n"
       "  2  not a trace, or it cannot be read\n"},
      {"text", "json"},
      [](Command& command, Options& options) {
        add_trace_input_options(command, options);
        add_schema_options(command, options.schemas);
      },
      run);
}

}  // namespace coldtrace::cli
