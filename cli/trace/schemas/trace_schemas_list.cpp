#include <algorithm>
#include <tuple>

#include <CLI/Error.hpp>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"

namespace coldtrace::cli {
namespace {

struct TraceSchemasListOptions : CommonOptions {
  SchemaOptions schemas;
};

struct Row {
  core::Guid guid;
  std::string name;
  schema_files::FileSchemas::File file;
  bool recreated;
  std::size_t events;
};

std::vector<Row> list_rows(const schema_files::SchemaFiles& files, const SchemaOptions& options,
                           core::Findings& findings) {
  std::vector<Row> rows;
  files.visit(options.languages, findings, [&](const auto& found) {
    rows.push_back({found.declared.guid(), found.declared.name(), found.file, found.recreated,
                    found.declared.events().size()});
  });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.name, a.guid) < std::tie(b.name, b.guid);
  });
  return rows;
}

void write_text(Output& output, const std::vector<Row>& rows) {
  for (const auto& row : rows)
    print(output, "{}  {:<56} {:>12}  {}{}{}\n", core::to_string(row.guid),
          row.name.empty() ? "(no name)" : printable(row.name),
          counted(row.events, "event", "events"), printable(row.file.path),
          row.file.version ? fmt::format(" {}", printable(*row.file.version)) : std::string{},
          row.recreated ? " (re-created)" : "");
}

void write_json(JsonWriter& json, const std::vector<Row>& rows, const core::Findings& findings) {
  json.begin_object()
      .field("schema", "coldtrace.trace-schemas-list/1")
      .field("tool", tool_version)
      .key("providers")
      .begin_array();
  for (const auto& row : rows)
    json.begin_object()
        .field("guid", core::to_string(row.guid))
        .field("name", text_or_null(row.name))
        .field("events", row.events)
        .field("recreated", row.recreated)
        .field("file", row.file.path)
        .field("file_version", row.file.version)
        .field("store", text_or_null(row.file.store))
        .field("sha256", text_or_null(row.file.sha256))
        .end_object();
  json.end_array().key("findings");
  write_findings(json, findings);
  json.end_object().end_document();
}

Exit run_trace_schemas_list(const TraceSchemasListOptions& options) {
  Report report{options.findings};
  if (!options.schemas.any()) throw CLI::RequiredError{"--schemas or COLDTRACE_SCHEMAS"};
  core::Findings findings;
  const auto files = find_schema_files(options.schemas, options, findings);
  if (files.size() == 0) return tell_nothing_declared(options.schemas, findings, report);
  const auto rows = list_rows(files, options.schemas, findings);
  Output output{options.output};
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_json(json, rows, findings);
  } else {
    write_text(output, rows);
  }
  output.commit();
  report.read("--schemas", findings);
  return report.exit();
}

}  // namespace

void add_trace_schemas_list(CLI::App& app, Exit& exit) {
  add_command<TraceSchemasListOptions>(
      app, exit,
      {"list", "List the event providers that files declare",
       "  coldtrace trace schemas list --schemas windows.ctschemas\n"
       "  coldtrace trace schemas list --schemas /mnt/c/Windows/System32 --format json\n",
       "  0  it was written\n"
       "  1  a file is damaged, cannot be read or declares nothing\n"
       "  2  no file declares event providers, or the output cannot be written\n"},
      {"text", "json"},
      [](Command& command, TraceSchemasListOptions& options) {
        add_schema_options(command, options.schemas);
      },
      run_trace_schemas_list);
}

}  // namespace coldtrace::cli
