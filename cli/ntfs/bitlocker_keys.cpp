#include "cli/ntfs/bitlocker_keys.hpp"

#include <fmt/format.h>

#include "cli/command/report.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {

std::vector<Option> add_bitlocker_options(Command& command, ntfs::BitLockerKeyFiles& files) {
  auto password = command.add_input("--password-file", files.passwords,
                                    "File with the password of a BitLocker volume");
  password.repeatable().type_name("FILE");
  auto recovery = command.add_input(
      "--recovery-key-file", files.recovery_keys,
      "File with the 48 digits of a BitLocker recovery key, also as Windows saves it");
  recovery.repeatable().type_name("FILE");
  auto startup = command.add_input("--startup-key", files.startup_keys,
                                   ".BEK file with the startup key of a BitLocker volume");
  startup.repeatable().type_name("FILE");
  return {password, recovery, startup};
}

std::vector<ntfs::BitLockerKey> given_bitlocker_keys(const ntfs::BitLockerKeyFiles& files) {
  auto keys = ntfs::read_bitlocker_keys(files);
  if (keys) return std::move(*keys);
  const auto& [path, why, error] = keys.error();
  throw Failure{fmt::format("{}: {}", core::printable(path), error ? to_message(*error) : why)};
}

}  // namespace coldtrace::cli
