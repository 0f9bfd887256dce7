#pragma once

#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

namespace coldtrace::cli {

// Files with what opens BitLocker volumes: secrets never stand on the command line.
struct BitLockerKeyFiles {
  std::vector<std::string> passwords;
  std::vector<std::string> recovery_keys;
  std::vector<std::string> startup_keys;

  bool empty() const { return passwords.empty() && recovery_keys.empty() && startup_keys.empty(); }
};

// --password-file, --recovery-key-file and --startup-key.
std::vector<Option> add_bitlocker_options(Command& command, BitLockerKeyFiles& files);

// What the files hold; throws Failure where one cannot be read or is none of its kind.
std::vector<ntfs::BitLockerKey> read_bitlocker_keys(const BitLockerKeyFiles& files);

}  // namespace coldtrace::cli
