#pragma once

#include <string_view>

#include "cli/sqlite/sqlite_file.hpp"
#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

// The tables meta and finding, which every database has: its origin.
inline constexpr const char* meta_and_finding_tables =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) STRICT;"
    "CREATE TABLE finding(code TEXT PRIMARY KEY, severity TEXT NOT NULL, count INTEGER NOT NULL, "
    "first_offset INTEGER, text TEXT NOT NULL) STRICT;";

// Adds the columns of a finding after those that the row has, and completes the row.
void add_finding(SqliteRows& rows, const core::Finding& finding);

// Writes the rows of `finding`, and to `meta` the name of the schema and the program's version.
void write_findings_and_schema(SqliteFile& file, std::string_view schema,
                               const core::Findings& findings);

}  // namespace coldtrace::cli
