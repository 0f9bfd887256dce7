#include "cli/sqlite/finding_tables.hpp"

#include "cli/command/version.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {

void add_finding(SqliteRows& rows, const core::Finding& finding) {
  rows.text(finding.code.view())
      .text(to_string(finding.severity))
      .integer(static_cast<i64>(finding.count))
      .maybe(finding.first_offset)
      .text(core::to_valid_utf8(finding.text))
      .insert();
}

void write_findings_and_schema(SqliteFile& file, std::string_view schema,
                               const core::Findings& findings) {
  SqliteRows meta{file, "meta", 2};
  meta.text("schema").text(schema).insert();
  meta.text("tool").text(tool_version).insert();
  SqliteRows rows{file, "finding", 5};
  for (const auto& finding : findings.all()) add_finding(rows, finding);
}

}  // namespace coldtrace::cli
