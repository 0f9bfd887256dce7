#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/recovery/log_file.hpp"
#include "registry/recovery/hive_bytes.hpp"

namespace coldtrace::registry {

// The progress through the entries of several logs.
struct EntryProgress {
  u32 first = 0;            // entries below it are not applied: the hive's secondary number
  std::optional<u32> last;  // of the last entry applied
  u32 bins_size = 0;        // according to the last entry
  bool stopped = false;     // no other log is applied
};

// Applies the entries of a log in order, from the second sector on, up to the first that is out of
// sequence or has wrong hashes, which ends the recovery.
void apply_entries(HiveBytes& hive, const LogFile& log, LogUse& use, EntryProgress& progress,
                   core::Findings& findings);

}  // namespace coldtrace::registry
