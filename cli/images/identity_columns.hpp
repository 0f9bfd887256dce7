#pragma once

#include "cli/images/identity.hpp"
#include "cli/sqlite/sqlite_file.hpp"

namespace coldtrace::cli {

// The columns of a table that identify a row's image, as write_identity() does.
inline constexpr const char* identity_columns =
    "name TEXT, machine TEXT NOT NULL, file_version TEXT, time_date_stamp INTEGER NOT NULL, "
    "size_of_image INTEGER NOT NULL, checksum INTEGER NOT NULL, pdb_name TEXT, pdb_guid TEXT, "
    "pdb_age INTEGER, sha256 TEXT, wine INTEGER NOT NULL";
inline constexpr int identity_column_count = 11;

void add_identity(SqliteRows& rows, const HashedIdentity& identity);

}  // namespace coldtrace::cli
