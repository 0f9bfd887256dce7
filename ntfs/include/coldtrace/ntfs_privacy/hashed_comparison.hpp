#pragma once

#include "coldtrace/ntfs/comparison/compared_file.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::ntfs {

// Hashes the names of a file that is compared, and leaves its owner out: as RowHasher does with the
// row that it would be of.
void hash_names(ComparedFile& file, const privacy::HashedNames& names);

}  // namespace coldtrace::ntfs
