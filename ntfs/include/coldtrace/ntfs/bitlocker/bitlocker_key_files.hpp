#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/error.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

namespace coldtrace::ntfs {

// Files with what opens BitLocker volumes.
struct BitLockerKeyFiles {
  std::vector<std::string> passwords;      // each a password, with or without an end of its line
  std::vector<std::string> recovery_keys;  // 48 digits, also as Windows saves them
  std::vector<std::string> startup_keys;   // files .BEK

  [[nodiscard]] bool empty() const {
    return passwords.empty() && recovery_keys.empty() && startup_keys.empty();
  }
};

// Why there is no key in a file: `error` where it cannot be read.
struct BitLockerKeyFileError {
  std::string path;
  std::string why;
  std::optional<core::ParseError> error;
};

// What the files hold.
[[nodiscard]] core::Expected<std::vector<BitLockerKey>, BitLockerKeyFileError> read_bitlocker_keys(
    const BitLockerKeyFiles& files);

}  // namespace coldtrace::ntfs
