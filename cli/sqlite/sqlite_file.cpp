#include "cli/sqlite/sqlite_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::cli {
namespace {

// "cold"
constexpr unsigned application_id = 0x636f6c64;

struct OpenedFile {
  int descriptor = -1;
  sqlite3* database = nullptr;
};

// SQLite wants a file by its name; it has none any more once SQLite has opened it.
OpenedFile open_file() {
  auto path = core::temporary_folder() + "/coldtrace-XXXXXX";
  OpenedFile file;
  file.descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (file.descriptor < 0)
    throw Failure{
        fmt::format("{}: cannot write: {}", path, std::generic_category().message(errno))};
  const int opened =
      ::sqlite3_open_v2(path.c_str(), &file.database, SQLITE_OPEN_READWRITE, nullptr);
  // The file is opened by the first statement.
  const bool ready =
      opened == SQLITE_OK &&
      ::sqlite3_exec(file.database,
                     "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA "
                     "synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE",
                     nullptr, nullptr, nullptr) == SQLITE_OK;
  ::unlink(path.c_str());
  if (ready) return file;
  const std::string message = ::sqlite3_errmsg(file.database);
  ::sqlite3_close(file.database);
  ::close(file.descriptor);
  throw Failure{fmt::format("{}: cannot write: {}", path, message)};
}

std::optional<OpenedFile>& opened_before() {
  static std::optional<OpenedFile> file;
  return file;
}

}  // namespace

void open_database_file(SandboxNeeds& needs) {
  needs.named_temporaries = true;
  // Where it sorts what does not fit into memory; a folder of its own choice else.
  ::sqlite3_temp_directory = ::sqlite3_mprintf("%s", core::temporary_folder().c_str());
  opened_before() = open_file();
}

SqliteFile::SqliteFile() {
  auto file = std::exchange(opened_before(), std::nullopt);
  if (!file) file = open_file();
  descriptor_ = file->descriptor;
  database_ = file->database;
  run(fmt::format("PRAGMA application_id={}; PRAGMA user_version=1", application_id));
}

SqliteFile::~SqliteFile() {
  ::sqlite3_close(database_);
  ::close(descriptor_);
}

void SqliteFile::fail() const {
  throw Failure{fmt::format("the database cannot be written: {}", ::sqlite3_errmsg(database_))};
}

void SqliteFile::run(const std::string& statements) {
  if (::sqlite3_exec(database_, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void SqliteFile::write_to(Output& output) {
  run("COMMIT");
  std::array<char, 1 << 16> part;
  for (off_t at = 0;;) {
    const auto count = ::pread(descriptor_, part.data(), part.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw Failure{
          fmt::format("a temporary file: cannot read: {}", std::generic_category().message(errno))};
    if (count == 0) return;
    output.write({part.data(), static_cast<std::size_t>(count)});
    at += count;
  }
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

SqliteRows::SqliteRows(SqliteFile& file, std::string_view table, int columns) : file_{file} {
  auto statement = fmt::format("INSERT INTO {} VALUES(?", sql_name(table));
  for (int i = 1; i < columns; ++i) statement += ",?";
  statement += ')';
  if (::sqlite3_prepare_v3(file.database_, statement.data(), static_cast<int>(statement.size()),
                           SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK)
    file.fail();
}

SqliteRows::~SqliteRows() {
  ::sqlite3_finalize(statement_);
}

SqliteRows& SqliteRows::integer(i64 number) {
  if (::sqlite3_bind_int64(statement_, ++bound_, number) != SQLITE_OK) file_.fail();
  return *this;
}

SqliteRows& SqliteRows::real(double number) {
  if (::sqlite3_bind_double(statement_, ++bound_, number) != SQLITE_OK) file_.fail();
  return *this;
}

SqliteRows& SqliteRows::text(std::string_view text) {
  if (::sqlite3_bind_text64(statement_, ++bound_, text.data() == nullptr ? "" : text.data(),
                            text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK)
    file_.fail();
  return *this;
}

SqliteRows& SqliteRows::blob(core::ByteView bytes) {
  const auto bound = bytes.empty() ? ::sqlite3_bind_zeroblob(statement_, ++bound_, 0)
                                   : ::sqlite3_bind_blob64(statement_, ++bound_, bytes.data(),
                                                           bytes.size(), SQLITE_TRANSIENT);
  if (bound != SQLITE_OK) file_.fail();
  return *this;
}

SqliteRows& SqliteRows::null() {
  if (::sqlite3_bind_null(statement_, ++bound_) != SQLITE_OK) file_.fail();
  return *this;
}

void SqliteRows::insert() {
  bound_ = 0;
  if (::sqlite3_step(statement_) != SQLITE_DONE || ::sqlite3_reset(statement_) != SQLITE_OK)
    file_.fail();
}

}  // namespace coldtrace::cli
