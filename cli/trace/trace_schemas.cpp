#include "cli/trace/trace_schemas.hpp"

namespace coldtrace::cli {

void add_schema_options(Command& command, SchemaOptions& options) {
  command
      .add_input("--schemas", options.paths,
                 "PE file or manifest (.man) that declares providers of events, or a folder with "
                 "such files in it or below; known by what is in them. Can be repeated")
      .repeatable()
      .type_name("FILE|DIR");
  command
      .add_option("--language", options.languages,
                  "Language of messages and of names of values: the first of these that a file of "
                  "--schemas has texts in (default: en-US)")
      .list("LANG");
}

TraceSchemas::TraceSchemas(const SchemaOptions& options, TraceInput& input) {
  const auto& own = input.trace.schemas();
  chain_.append({std::shared_ptr<const void>{}, &own});  // the trace keeps it
  if (!options.any()) return;
  auto& findings = input.findings;
  schema_files::SchemaFiles files;
  for (const auto& path : options.paths) files.add(path, findings);
  files_ = files.read(input.trace.schema_keys(), options.languages, findings);
  if (files.size() == 0)
    findings.warning("schema-unused", std::nullopt,
                     "--schemas names no file that declares providers of events");
  else if (files_->files().empty())
    findings.warning("schema-unused", std::nullopt,
                     "none of the {} files of --schemas with providers of events declares an event "
                     "of the trace",
                     files.size());
  chain_.append_alternative(files_);
}

void TraceSchemas::write(JsonWriter& json) const {
  const auto text = [](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional{name};
  };
  json.key("schemas").begin_array();
  for (const auto& file : files_->files()) {
    json.begin_object()
        .field("file", file.path)
        .field("file_version", file.version)
        .field("language_file", text(file.language_file))
        .key("providers")
        .begin_array();
    for (const auto& provider : file.providers)
      json.begin_object()
          .field("guid", core::to_string(provider.guid))
          .field("name", text(provider.name))
          .field("recreated", provider.recreated)
          .field("kinds", provider.kinds)
          .end_object();
    json.end_array().end_object();
  }
  json.end_array();
}

std::vector<std::string_view> TraceSchemas::files_of(const core::Guid& provider) const {
  std::vector<std::string_view> found;
  for (const auto& file : files_->files())
    for (const auto& declared : file.providers)
      if (declared.guid == provider) found.push_back(file.path);
  return found;
}

}  // namespace coldtrace::cli
