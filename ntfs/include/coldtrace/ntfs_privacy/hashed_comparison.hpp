#pragma once

#include "coldtrace/ntfs/comparison/compared_file.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::ntfs {

// Hashes the names of a file that is compared, as RowHasher does with the row that it would be of,
// and what that strips: owner, object id, reparse point, and extended attributes and other streams
// as a whole.
void hash_names(ComparedFile& file, const privacy::HashedNames& names);

// Of a row that RowHasher hashed: of these nothing is known.
void forget_stripped(ComparedFile& file);

}  // namespace coldtrace::ntfs
