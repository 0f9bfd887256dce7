#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/registry/driver-check/configuration_reader.hpp"
#include "coldtrace/registry/recovery/hive_recovery.hpp"

namespace coldtrace::cli {

// A hive with the changes in the logs beside it, in memory: no file is written.
struct HiveInput {
  std::string path;
  core::Findings findings;
  registry::HiveRecovery recovery;
  std::vector<std::string> log_paths;
  std::unique_ptr<registry::Hive> hive;
  registry::HiveKind kind = registry::HiveKind::other;
};

// Opens a hive with the logs that registry::find_logs() finds; a pipe has none. Throws Failure if
// it is not a hive, or neither SYSTEM nor SOFTWARE.
std::unique_ptr<HiveInput> open_hive(const std::string& path);

}  // namespace coldtrace::cli
