#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/output/output.hpp"
#include "coldtrace/core/reader.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace coldtrace::cli {

struct SandboxNeeds;

// A database that is created in one transaction, in a file without a name, and then copied to an
// output: it is written atomically, and has the same bytes for the same rows. All functions throw
// Failure; so does the constructor if coldtrace was built without SQLite.
class SqliteFile {
 public:
  SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  ~SqliteFile();

  // Runs statements that return no rows.
  void run(const std::string& statements);

  // Ends the transaction. Nothing may be added after it.
  void write_to(Output& output);

 private:
  friend class SqliteRows;
  [[noreturn]] void fail() const;

  int descriptor_ = -1;
  sqlite3* database_ = nullptr;
};

// Opens the file of the next SqliteFile now: SQLite opens it by its name, for which the run has no
// right later. Tells the sandbox what SQLite needs for sorting.
void open_database_file(SandboxNeeds& needs);

// A name quoted for SQL, whatever characters are in it.
std::string sql_name(std::string_view name);

// Adds rows to one table, value by value in the order of its columns.
class SqliteRows {
 public:
  // `columns` is the number of columns of the table.
  SqliteRows(SqliteFile& file, std::string_view table, int columns);
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  ~SqliteRows();

  SqliteRows& integer(i64 number);
  SqliteRows& real(double number);
  // The text must be valid UTF-8.
  SqliteRows& text(std::string_view text);
  SqliteRows& blob(core::ByteView bytes);
  SqliteRows& null();
  template <class Number>
  SqliteRows& maybe(const std::optional<Number>& number) {
    return number ? integer(static_cast<i64>(*number)) : null();
  }
  SqliteRows& text_or_null(std::string_view words) { return words.empty() ? null() : text(words); }

  // Completes the row.
  void insert();

 private:
  [[maybe_unused]] SqliteFile& file_;  // unused in builds without SQLite, as are the others
  [[maybe_unused]] sqlite3_stmt* statement_ = nullptr;
  [[maybe_unused]] int bound_ = 0;
};

}  // namespace coldtrace::cli
