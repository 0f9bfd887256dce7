#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/export/event_lines.hpp"

namespace coldtrace::cli {

// Nanoseconds since 1970; nothing before 1677 and after 2262.
std::optional<i64> unix_nanoseconds(std::optional<core::FileTime> time);

// The tables of events: `event` has a row for each, with what all have in common, and a table for
// each kind has the values of its fields. Source of the layout:
// docs/commands/trace-export-sqlite.md.
class EventTables {
 public:
  static constexpr std::size_t most_kinds = 1000;
  static constexpr std::size_t most_columns = 200;

  explicit EventTables(SqliteFile& file);

  void add(const EventLine& line);
  // Adds the table of kinds, and indexes.
  void finish();

  // Events with fields whose kind has no table of its own, as there are too many.
  u64 left_out() const { return left_out_; }

 private:
  enum class Type : u8 { integer, real, text, blob };
  struct Column {
    std::string member;  // of the object `fields`
    Type type;
  };
  struct Kind {
    i64 id = 0;
    std::string table;  // empty: none
    std::string provider, guid, name;
    std::optional<i64> number, opcode, version;
    std::vector<Column> columns;
    std::unique_ptr<SqliteRows> rows;
    u64 events = 0;
  };

  void add_gap(const rapidjson::Value& json, std::optional<core::FileTime> time);
  Kind& kind_of(const EventLine& line);
  void make_table(Kind& kind, const EventLine& line);
  std::string table_name(const Kind& kind);
  static Type type_of(const rapidjson::Value& value, const tracefile::FieldSchema* field);
  // Binds the value; false where the column cannot hold it.
  static bool bind(SqliteRows& rows, Type type, const rapidjson::Value& value);
  // Members of `fields` that are in no column, and what stands beside the fields, as JSON.
  void add_fields(Kind& kind, const EventLine& line, std::string& more);

  SqliteFile& file_;
  SqliteRows events_;
  SqliteRows gaps_;
  std::map<std::string, Kind> kinds_;  // by what tells them apart
  std::set<std::string> names_;        // of tables, in lower case
  i64 next_event_ = 1;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::cli
