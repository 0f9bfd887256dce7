#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "cli/sqlite/sqlite_file.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"

namespace coldtrace::cli {

// Only letters, digits and '_', so that SQL needs no quotes.
std::string plain_sql_name(std::string_view name);

// The bytes of coldtrace's hexadecimal text.
std::vector<std::byte> bytes_of_hex(std::string_view hex);

// Appends a member to an unclosed object; the first one opens it.
void add_json_member(std::string& json, std::string_view name, std::string_view value);

// The table of a kind of events: a column for each field that a schema of the kind declares, of the
// declared type. A kind may have several schemas; later ones add columns.
class KindTable {
 public:
  static constexpr std::size_t most_columns = 200;
  using Fields = std::vector<tracefile::FieldSchema>;

  KindTable(SqliteFile& file, std::string name, const Fields& fields, bool clock_known);

  const std::string& name() const { return name_; }
  std::size_t columns() const { return columns_.size(); }

  // Whether columns for members of the object `values` are missing and could be added.
  bool lacks(const rapidjson::Value& values, const Fields& fields) const;
  // Adds columns; returns how many.
  std::size_t grow(const Fields& fields);

  // Adds the row of an event. Members of `values` without a column go to `more`; returns how many
  // have a column that cannot hold them, or none for lack of room.
  u64 add(i64 event, const rapidjson::Value& values, const Fields& fields, std::string& more);

 private:
  enum class Type : u8 { integer, real, text, blob };

  Type type_of(const tracefile::FieldSchema& field) const;
  void add_columns(const Fields& fields, std::vector<std::string>& declarations);
  // The column of a member; `hint` is the most likely one.
  std::size_t find_column(std::string_view member, std::size_t hint) const;
  // Whether the column can hold the value of a field.
  bool fits(std::string_view member, Type type, const rapidjson::Value& value,
            const Fields& fields) const;
  void bind(Type type, const rapidjson::Value& value);

  struct Column {
    std::string member;
    Type type;
  };
  SqliteFile& file_;
  std::string name_;
  bool clock_known_;
  std::vector<Column> columns_;
  std::map<std::string, std::size_t, std::less<>> by_member_;
  std::set<std::string> taken_{"event"};  // column names, in lower case
  std::unique_ptr<SqliteRows> rows_;
  std::vector<const rapidjson::Value*> row_;  // by column; null: no value
};

}  // namespace coldtrace::cli
