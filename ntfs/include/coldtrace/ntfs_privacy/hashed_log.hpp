#pragma once

#include "coldtrace/ntfs/logfile/log_history.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::ntfs {

// Hashes the names of an event of a log.
void hash_names(LogEvent& event, const privacy::HashedNames& names);

}  // namespace coldtrace::ntfs
