#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/registry/driver-check/configuration_reader.hpp"
#include "coldtrace/registry/recovery/hive_recovery.hpp"

namespace coldtrace::cli {

// A hive with what the logs beside it have, in memory: no file is written.
struct HiveInput {
  std::string path;
  core::Findings findings;
  registry::HiveRecovery recovery;
  std::vector<std::string> log_paths;
  std::unique_ptr<registry::Hive> hive;
  registry::HiveKind kind = registry::HiveKind::other;
};

// With the logs that registry::find_logs() finds; nothing lies beside a pipe. Throws Failure where
// it is not a hive, or neither SYSTEM nor SOFTWARE.
std::unique_ptr<HiveInput> open_hive(const std::string& path);

}  // namespace coldtrace::cli
