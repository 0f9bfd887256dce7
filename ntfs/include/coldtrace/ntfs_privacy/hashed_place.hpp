#pragma once

#include "coldtrace/ntfs/locate/place.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::ntfs {

// Hashes the paths of a place's owners and the names of their streams; the rest is kept.
void hash_names(Place& place, const privacy::HashedNames& names);

}  // namespace coldtrace::ntfs
