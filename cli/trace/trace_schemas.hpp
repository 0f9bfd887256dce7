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

// --schemas, --language, --tmf, and --pdb for the annotations of WPP.
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

// The files that `schemas` names. Throws Failure where the output of `options` would replace one.
schema_files::SchemaFiles find_schema_files(const SchemaOptions& schemas,
                                            const CommonOptions& options, core::Findings& findings);

// For commands about files that declare providers, where none of those named does.
Exit tell_nothing_declared(const SchemaOptions& schemas, const core::Findings& findings,
                           Report& report);

// The build that a trace is of; nothing where its header is lost.
std::optional<schema_files::WindowsBuild> windows_build_of(const tracefile::AnyTrace& trace);

// What decodes the events of a trace: its own schemas, and those of the files that the options
// name.
class TraceSchemas {
 public:
  // Findings go to those of the trace, which outlives the object. Throws Failure where the output
  // of `options` would replace a file.
  TraceSchemas(const SchemaOptions& schemas, const CommonOptions& options, TraceInput& input);

  const tracefile::SchemaSource& source() const { return chain_; }

  // Whether files are named; the rest is for then.
  bool any() const { return files_ != nullptr || messages_; }
  // "schemas", the files that declare an event of the trace, and "message_files", those with
  // formats of its messages; each where files are named.
  void write(JsonWriter& json) const;
  // What events of the trace are understood by.
  tracefile::EventContext context_of(const tracefile::AnyTrace& trace) const;
  // The PDBs among "message_files".
  std::vector<pe::PdbReference> message_pdbs() const;
  // Those of "schemas" that declare an event of the provider.
  std::vector<std::string_view> files_of(const core::Guid& provider) const;
  // The provider of WPP that has logged the messages with this GUID; null where no PDB says so, or
  // where it has several.
  const schema_files::MessageFiles::Provider* provider_of(const core::Guid& message) const;
  // What --provider asks for, with the GUIDs of the messages that a provider of WPP has logged.
  std::vector<std::string> with_message_guids(std::vector<std::string> providers) const;

 private:
  void read_schemas(const SchemaOptions& schemas, const CommonOptions& options, TraceInput& input);
  void read_messages(const SchemaOptions& schemas, const CommonOptions& options, TraceInput& input);
  void write_schemas(JsonWriter& json) const;
  void write_messages(JsonWriter& json) const;

  tracefile::SchemaChain chain_;
  std::shared_ptr<const schema_files::FileSchemas> files_;  // null: none are named
  std::optional<schema_files::MessageFiles::Contents> messages_;
  std::optional<schema_files::ParameterTexts> parameters_;
};

}  // namespace coldtrace::cli
