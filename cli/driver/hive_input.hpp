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

// Logs are the files beside it that have its name and ".LOG1" or ".LOG2" behind it, or ".LOG" where
// neither is there, in any case. Throws Failure where it is no hive, or neither SYSTEM nor
// SOFTWARE.
std::unique_ptr<HiveInput> open_hive(const std::string& path);

// Whether a file of this path is one that is looked for as a log of the hive.
bool is_log_name(const std::string& hive, const std::string& path);

}  // namespace coldtrace::cli
