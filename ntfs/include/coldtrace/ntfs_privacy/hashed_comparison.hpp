#pragma once

#include "coldtrace/ntfs/comparison/compared_file.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::ntfs {

// Hashes the names of a compared file, as RowHasher does for its row, and what that removes: owner,
// object id, reparse point, and extended attributes and other streams as a whole.
void hash_names(ComparedFile& file, const privacy::HashedNames& names);

// For a row that RowHasher hashed: these are unknown.
void forget_stripped(ComparedFile& file);

}  // namespace coldtrace::ntfs
