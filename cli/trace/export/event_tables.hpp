#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/export/event_lines.hpp"
#include "cli/trace/export/kind_table.hpp"

namespace coldtrace::cli {

// Nanoseconds since 1970; nothing before 1677 or after 2262.
std::optional<i64> unix_nanoseconds(std::optional<core::FileTime> time);

// The tables of events: `event` has a row for each, with the members common to all, and one table
// per kind has the values of its fields. Source of the layout:
// docs/commands/trace-export-rows.md.
class EventTables {
 public:
  static constexpr std::size_t most_kinds = 1000;
  // For each column added to an existing table, SQLite reads those of all tables again: this is the
  // limit.
  static constexpr u64 most_columns_read = 10'000'000;

  EventTables(SqliteFile& file, bool clock_known);

  void add(const EventLine& line);
  // Adds the table of kinds, and the indexes.
  void finish();

  // Events with fields whose kind has no table because there are too many.
  u64 left_out() const { return left_out_; }
  // Values that their column cannot hold, or without a column because there are too many.
  u64 unfit() const { return unfit_; }

 private:
  struct Kind {
    i64 id = 0;
    std::string provider, guid, name;
    std::optional<i64> number, opcode, version;
    std::unique_ptr<KindTable> table;  // null: none
    u64 events = 0;
  };

  void add_gap(const rapidjson::Value& json, std::optional<core::FileTime> time);
  Kind& kind_of(const EventLine& line);
  std::string table_name(const Kind& kind);
  // Creates the table of the kind, or adds columns to it, if the event has fields for them.
  void provide_table(Kind& kind, const EventLine& line);
  // Adds the fields; those without a column, and what accompanies them, go to `more`.
  void add_fields(Kind& kind, const EventLine& line, std::string& more);

  SqliteFile& file_;
  bool clock_known_;
  SqliteRows events_;
  SqliteRows gaps_;
  std::map<std::string, Kind> kinds_;  // by what distinguishes them
  std::set<std::string> names_;        // of tables, in lower case
  i64 next_event_ = 1;
  u64 left_out_ = 0;
  u64 columns_ = 0;
  u64 columns_read_ = 0;
  u64 unfit_ = 0;
};

}  // namespace coldtrace::cli
