#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/hive/base_block.hpp"
#include "coldtrace/registry/recovery/log_file.hpp"

namespace coldtrace::registry {

// What a recovery wrote to a hive in memory.
struct HiveRecovery {
  BaseBlock before;          // as it is in the file
  std::vector<LogUse> logs;  // in the order they were examined
  u64 entries = 0;
  u64 pages = 0;

  [[nodiscard]] bool is_complete() const { return !before.is_dirty() || entries > 0; }
};

// Applies to a dirty hive, in memory, the changes in its logs that Windows would apply on loading
// it. A clean hive stays as it is. What was applied, and why something was not, is in the findings
// "hive-dirty", "hive-log-applied", "hive-log-other", "hive-log-damaged" and "hive-log-gap". Fails
// if the bytes are not a hive.
core::Result<HiveRecovery> recover_hive(std::vector<std::byte>& hive, std::span<const LogFile> logs,
                                        core::Findings& findings);

}  // namespace coldtrace::registry
