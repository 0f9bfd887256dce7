#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/trace_input.hpp"
#include "coldtrace/schema_files/message_files.hpp"
#include "coldtrace/schema_files/parameter_texts.hpp"
#include "coldtrace/schema_files/schema_files.hpp"
#include "coldtrace/tracefile/selection/event_context.hpp"

namespace coldtrace::cli {

struct SandboxNeeds;

// Tells the sandbox of the folders of languages beside a module, where its translations are.
void add_translations(const std::string& file, SandboxNeeds& needs);

// --schemas, --language, --tmf, and --pdb for WPP annotations.
struct SchemaOptions {
  std::vector<std::string> paths;
  std::vector<std::string> tmf, pdbs;
  std::vector<std::string> parameters;
  std::vector<std::string> languages;

  // Those of --schemas, then those of the environment variable COLDTRACE_SCHEMAS.
  std::vector<std::string> all_paths() const;
  bool any() const { return any_messages() || !all_paths().empty(); }
  bool any_messages() const { return !tmf.empty() || !pdbs.empty(); }
};

void add_schema_options(Command& command, SchemaOptions& options);
void add_tmf_option(Command& command, SchemaOptions& options);
void add_parameters_option(Command& command, SchemaOptions& options);
void add_language_option(Command& command, SchemaOptions& options);

// The files that `schemas` names. Throws Failure if the output of `options` would replace one.
schema_files::SchemaFiles find_schema_files(const SchemaOptions& schemas,
                                            const CommonOptions& options, core::Findings& findings);

// For commands about files that declare providers, if none of the named files does.
Exit tell_nothing_declared(const SchemaOptions& schemas, const core::Findings& findings,
                           Report& report);

// The build of Windows on which a trace was recorded; nothing if its header is lost.
std::optional<schema_files::WindowsBuild> windows_build_of(const tracefile::AnyTrace& trace);

// The schemas for a trace's events: its own, and those of the files that the options name.
class TraceSchemas {
 public:
  // Findings are added to those of the trace, which has to outlive the object. Throws Failure if
  // the output of `options` would replace a file.
  TraceSchemas(const SchemaOptions& schemas, const CommonOptions& options, TraceInput& input);

  const tracefile::SchemaSource& source() const { return chain_; }

  // Whether files are named; the functions below are for that case.
  bool any() const { return files_ != nullptr || messages_; }
  // "schemas", the files that declare an event of the trace, and "message_files", those with
  // formats of its messages; each only if files are named.
  void write(JsonWriter& json) const;
  // What is needed to decode the events of the trace.
  tracefile::EventContext context_of(const tracefile::AnyTrace& trace) const;
  // The PDBs among "message_files".
  std::vector<pe::PdbReference> message_pdbs() const;
  // The files in "schemas" that declare an event of the provider.
  std::vector<std::string_view> files_of(const core::Guid& provider) const;
  // The WPP provider that logged the messages with this GUID; null if no PDB tells, or there are
  // several.
  const schema_files::MessageFiles::Provider* provider_of(const core::Guid& message) const;
  // The values of --provider, with the GUIDs of the messages that WPP providers logged.
  std::vector<std::string> with_message_guids(std::vector<std::string> providers) const;

 private:
  void read_schemas(const SchemaOptions& schemas, const CommonOptions& options, TraceInput& input);
  void read_messages(const SchemaOptions& schemas, const CommonOptions& options, TraceInput& input);
  void write_schemas(JsonWriter& json) const;
  void write_messages(JsonWriter& json) const;

  tracefile::SchemaChain chain_;
  std::shared_ptr<const schema_files::FileSchemas> files_;  // null: no files are named
  std::optional<schema_files::MessageFiles::Contents> messages_;
  std::optional<schema_files::ParameterTexts> parameters_;
};

}  // namespace coldtrace::cli
