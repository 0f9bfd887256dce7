#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/recovery/log_file.hpp"
#include "registry/recovery/hive_bytes.hpp"

namespace coldtrace::registry {

// Where the entries of several logs have come to.
struct EntryProgress {
  u32 first = 0;            // no entry below it is applied: the hive's secondary number
  std::optional<u32> last;  // of the entry that was applied last
  u32 bins_size = 0;        // as the last entry has it
  bool stopped = false;     // no other log is applied
};

// Applies the entries of a log, from the second sector on, in their order: up to the first that is
// not the next one, or whose hashes are wrong, which ends all.
void apply_entries(HiveBytes& hive, const LogFile& log, LogUse& use, EntryProgress& progress,
                   core::Findings& findings);

}  // namespace coldtrace::registry
