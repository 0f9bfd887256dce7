#include "cli/trace/export/meta_tables.hpp"

#include <functional>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/command/version.hpp"
#include "cli/output/json.hpp"
#include "cli/sqlite/finding_tables.hpp"
#include "cli/sqlite/json_values.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

class MetaTable {
 public:
  explicit MetaTable(SqliteFile& file) : rows_{file, "meta", 2} {}

  void add(std::string_view key, std::string_view value) {
    rows_.text(key).text_or_null(value).insert();
  }

  // A row for each member of the header that `write` writes.
  void add_session(std::string_view prefix, const std::function<void(JsonWriter&)>& write) {
    BufferPool pool;
    Output memory{std::size_t{1} << 20, pool};
    JsonWriter json{memory, Int64::number};
    write(json);
    std::vector<core::TextBuffer> pieces;
    memory.take(pieces);
    std::string text;
    for (const auto& piece : pieces) text += piece.view();
    const ParsedJson session{text};
    if (!session.value().IsObject()) return;
    for (const auto& member : session.value().GetObject())
      add(fmt::format("{}.{}", prefix, member.name.GetString()),
          member.value.IsNull() ? std::string{} : plain_of(member.value));
  }

 private:
  SqliteRows rows_;
};

void write_meta(SqliteFile& file, const TraceInput& input) {
  MetaTable meta{file};
  meta.add("schema", "coldtrace.trace-sqlite/1");
  meta.add("tool", tool_version);
  meta.add("format", input.trace.format());
  meta.add_session("session", [&](JsonWriter& json) { write_session(json, input.trace); });
  if (!input.has_several_files()) return;
  for (std::size_t i = 0; i < input.trace.files().size(); ++i) {
    const auto key = fmt::format("file.{}", i + 1);
    meta.add(key, core::to_valid_utf8(input.trace.files()[i].name));
    meta.add_session(key + ".session",
                     [&](JsonWriter& json) { write_session(json, input.trace, i); });
  }
}

}  // namespace

void write_meta_tables(SqliteFile& file, const TraceInput& input) {
  file.run(meta_and_finding_tables);
  file.run(
      "CREATE TABLE file_finding(file TEXT NOT NULL, code TEXT NOT NULL, severity TEXT NOT NULL, "
      "count INTEGER NOT NULL, first_offset INTEGER, text TEXT NOT NULL) "
      "STRICT");
  write_meta(file, input);
  SqliteRows findings{file, "finding", 5};
  for (const auto& finding : input.findings.all()) add_finding(findings, finding);
  if (!input.has_several_files()) return;
  SqliteRows of_files{file, "file_finding", 6};
  for (const auto& one : input.trace.files())
    for (const auto& finding : one.findings.all())
      add_finding(of_files.text(core::to_valid_utf8(one.name)), finding);
}

}  // namespace coldtrace::cli
