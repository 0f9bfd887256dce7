#include "cli/trace/trace_schemas.hpp"

#include <algorithm>
#include <cstdlib>

#include "cli/command/output_guard.hpp"
#include "cli/sandbox/reading_rights.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/schema_files/language_folders.hpp"
#include "coldtrace/schema_files/traced_build.hpp"
#include "coldtrace/where/where_value.hpp"

namespace coldtrace::cli {
namespace {

bool is_wanted(std::string_view wanted, const schema_files::MessageFiles::Provider& provider) {
  if (const auto guid = where::parse_any_guid(wanted)) return *guid == provider.guid;
  return glob_matches(wanted, provider.name, GlobCase::insensitive);
}

}  // namespace

std::vector<std::string> SchemaOptions::all_paths() const {
  auto all = paths;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
  const char* const variable = std::getenv("COLDTRACE_SCHEMAS");
  std::string_view left{variable == nullptr ? "" : variable};
  while (!left.empty()) {
    const auto end = std::min(left.find(':'), left.size());
    if (end > 0) all.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return all;
}

void add_translations(const std::string& file, SandboxNeeds& needs) {
  for (const auto& folder : folders_of(file)) {
    needs.listed.push_back(folder);
    const auto entries = core::list_folder(folder);
    if (!entries) continue;
    std::error_code ignored;
    for (const auto& entry : *entries)
      if (schema_files::LanguageFolders::is_language(entry.path().filename().string()) &&
          entry.is_directory(ignored))
        needs.inputs.push_back(entry.path().string());
  }
}

void add_schema_options(Command& command, SchemaOptions& options) {
  command
      .add_input(
          "--schemas", options.paths,
          "PE file, manifest (.man) or store (trace schemas build) that declares event providers, "
          "or a folder with such files in it or below; recognised by their contents. "
          "Searched before COLDTRACE_SCHEMAS (colon-separated)")
      .repeatable()
      .type_name("FILE|DIR");
  add_language_option(command, options);
  command.before_sandbox([&options](SandboxNeeds& needs) {
    needs.find_more_inputs.emplace_back([&options](SandboxNeeds& more) {
      for (auto& path : options.all_paths()) {
        add_translations(path, more);
        more.inputs.push_back(std::move(path));
      }
    });
  });
}

void add_parameters_option(Command& command, SchemaOptions& options) {
  command
      .add_input("--parameters", options.parameters,
                 "Message file that resolves %%n insertions, e.g. msobjs.dll or kernel32.dll")
      .repeatable();
  command.before_sandbox([&options](SandboxNeeds& needs) {
    needs.find_more_inputs.emplace_back([&options](SandboxNeeds& more) {
      for (const auto& file : options.parameters) add_translations(file, more);
    });
  });
}

void add_tmf_option(Command& command, SchemaOptions& options) {
  command
      .add_input("--tmf", options.tmf,
                 "Formats of WPP messages: TMF text, PDB with WPP's annotations, or a folder with "
                 "such files in it or below; recognised by their contents")
      .repeatable()
      .type_name("FILE|DIR");
}

void add_language_option(Command& command, SchemaOptions& options) {
  command
      .add_option("--language", options.languages,
                  "Language of messages and value names: the first of these in which a schema file "
                  "has texts (default: en-US)")
      .list("LANG");
}

schema_files::SchemaFiles find_schema_files(const SchemaOptions& schemas,
                                            const CommonOptions& options,
                                            core::Findings& findings) {
  schema_files::SchemaFiles files;
  for (const auto& path : schemas.all_paths()) files.add(path, findings);
  guard_output(options.output, options.format, files.sources());
  return files;
}

Exit tell_nothing_declared(const SchemaOptions& schemas, const core::Findings& findings,
                           Report& report) {
  report.tell("--schemas", findings);
  report.failed(schemas.all_paths().front(), "no file declares event providers");
  return Exit::failure;
}

std::optional<schema_files::WindowsBuild> windows_build_of(const tracefile::AnyTrace& trace) {
  return schema_files::traced_build(trace);
}

TraceSchemas::TraceSchemas(const SchemaOptions& schemas, const CommonOptions& options,
                           TraceInput& input) {
  const auto& own = input.trace.schemas();
  chain_.append({std::shared_ptr<const void>{}, &own});  // the trace keeps it
  if (!schemas.all_paths().empty()) read_schemas(schemas, options, input);
  if (schemas.any_messages()) read_messages(schemas, options, input);
  if (!schemas.parameters.empty())
    parameters_.emplace(schemas.parameters, schemas.languages, input.findings);
}

tracefile::EventContext TraceSchemas::context_of(const tracefile::AnyTrace& trace) const {
  auto context = tracefile::event_context_of(trace, chain_);
  if (parameters_) context.parameters = &*parameters_;
  return context;
}

void TraceSchemas::read_schemas(const SchemaOptions& schemas, const CommonOptions& options,
                                TraceInput& input) {
  auto& findings = input.findings;
  const auto files = find_schema_files(schemas, options, findings);
  files_ = files.read(input.trace.schema_keys(), schemas.languages, windows_build_of(input.trace),
                      findings, &input.trace.schemas());
  // What the environment names is for all traces.
  const bool is_asked_for = !schemas.paths.empty();
  if (is_asked_for) files.report_unused(*files_, "--schemas", findings);
  chain_.append_alternative(files_);
}

void TraceSchemas::read_messages(const SchemaOptions& schemas, const CommonOptions& options,
                                 TraceInput& input) {
  using schema_files::MessageFiles;
  auto& findings = input.findings;
  MessageFiles files;
  for (const auto& path : schemas.tmf) files.add(path, MessageFiles::Kinds::all, findings);
  for (const auto& path : schemas.pdbs) files.add(path, MessageFiles::Kinds::pdbs, findings);
  guard_output(options.output, options.format, files.sources());
  messages_ = files.read(input.trace.schema_keys(), input.trace.message_pdbs(), findings);
  if (!schemas.tmf.empty()) files.report_unused(*messages_, findings);
  chain_.append_alternative(messages_->formats);
}

std::vector<pe::PdbReference> TraceSchemas::message_pdbs() const {
  std::vector<pe::PdbReference> pdbs;
  if (messages_)
    for (const auto& file : messages_->files)
      if (file.pdb) pdbs.push_back(*file.pdb);
  return pdbs;
}

void TraceSchemas::write(JsonWriter& json) const {
  if (files_) write_schemas(json);
  if (messages_) write_messages(json);
}

void TraceSchemas::write_messages(JsonWriter& json) const {
  json.key("message_files").begin_array();
  for (const auto& file : messages_->files) {
    json.begin_object().field("file", file.path).key("pdb");
    if (file.pdb)
      json.begin_object()
          .field("guid",
                 file.pdb->guid ? std::optional{core::to_string(*file.pdb->guid)} : std::nullopt)
          .field("age", file.pdb->age)
          .end_object();
    else
      json.value(nullptr);
    json.field("formats", file.formats).key("providers").begin_array();
    for (const auto& provider : file.providers) {
      json.begin_object()
          .field("guid", core::to_string(provider.guid))
          .field("name", provider.name)
          .key("flags")
          .begin_array();
      for (const auto& flag : provider.flags) json.value(flag);
      json.end_array().end_object();
    }
    json.end_array().key("messages").begin_array();
    for (const auto& guid : file.messages) json.value(core::to_string(guid));
    json.end_array().end_object();
  }
  json.end_array();
}

void TraceSchemas::write_schemas(JsonWriter& json) const {
  json.key("schemas").begin_array();
  for (const auto& file : files_->files()) {
    json.begin_object()
        .field("file", file.path)
        .field("file_version", file.version)
        .field("language_file", text_or_null(file.language_file))
        .field("store", text_or_null(file.store))
        .field("sha256", text_or_null(file.sha256))
        .key("providers")
        .begin_array();
    for (const auto& provider : file.providers)
      json.begin_object()
          .field("guid", core::to_string(provider.guid))
          .field("name", text_or_null(provider.name))
          .field("recreated", provider.recreated)
          .field("kinds", provider.kinds)
          .field("behind", provider.behind)
          .end_object();
    json.end_array().end_object();
  }
  json.end_array();
}

const schema_files::MessageFiles::Provider* TraceSchemas::provider_of(
    const core::Guid& message) const {
  if (!messages_) return nullptr;
  for (const auto& file : messages_->files)
    if (file.messages.contains(message))
      return file.providers.size() == 1 ? &file.providers.front() : nullptr;
  return nullptr;
}

std::vector<std::string> TraceSchemas::with_message_guids(
    std::vector<std::string> providers) const {
  if (!messages_) return providers;
  for (auto& wanted : providers) {
    std::string messages;
    for (const auto& file : messages_->files)
      if (file.providers.size() == 1 && is_wanted(wanted, file.providers.front()))
        for (const auto& message : file.messages) messages += '\n' + core::to_string(message);
    wanted += messages;
  }
  return providers;
}

std::vector<std::string_view> TraceSchemas::files_of(const core::Guid& provider) const {
  std::vector<std::string_view> found;
  if (!files_) return found;
  for (const auto& file : files_->files())
    for (const auto& declared : file.providers)
      if (declared.guid == provider) found.push_back(file.path);
  return found;
}

}  // namespace coldtrace::cli
