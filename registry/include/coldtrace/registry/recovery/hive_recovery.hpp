#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/hive/base_block.hpp"
#include "coldtrace/registry/recovery/log_file.hpp"

namespace coldtrace::registry {

// What a recovery wrote to a hive, in memory.
struct HiveRecovery {
  BaseBlock before;          // of the file
  std::vector<LogUse> logs;  // in the order in which they were looked at
  u64 entries = 0;
  u64 pages = 0;

  [[nodiscard]] bool is_complete() const { return !before.is_dirty() || entries > 0; }
};

// Writes to a dirty hive, in memory, what its logs have and Windows would write when it loads it.
// A clean hive is left as it is. What was applied, and why something was not, is in the findings
// "hive-dirty", "hive-log-applied", "hive-log-other", "hive-log-damaged" and "hive-log-gap". Fails
// where the bytes are not a hive.
core::Result<HiveRecovery> recover_hive(std::vector<std::byte>& hive, std::span<const LogFile> logs,
                                        core::Findings& findings);

}  // namespace coldtrace::registry
