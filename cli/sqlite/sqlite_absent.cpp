#include "cli/sqlite/sqlite_file.hpp"

// Of a build without SQLite. No object of these classes is ever there.
namespace coldtrace::cli {

SqliteFile::SqliteFile() {
  throw Failure{"this coldtrace was built without SQLite, which databases need"};
}
SqliteFile::~SqliteFile() = default;
void SqliteFile::run(const std::string&) {}
void SqliteFile::write_to(Output&) {}

void open_database_file(SandboxNeeds&) {}

std::string sql_name(std::string_view name) {
  return std::string{name};
}

SqliteRows::SqliteRows(SqliteFile& file, std::string_view, int) : file_{file} {}
SqliteRows::~SqliteRows() = default;
SqliteRows& SqliteRows::integer(i64) {
  return *this;
}
SqliteRows& SqliteRows::real(double) {
  return *this;
}
SqliteRows& SqliteRows::text(std::string_view) {
  return *this;
}
SqliteRows& SqliteRows::blob(core::ByteView) {
  return *this;
}
SqliteRows& SqliteRows::null() {
  return *this;
}
void SqliteRows::insert() {}

}  // namespace coldtrace::cli
