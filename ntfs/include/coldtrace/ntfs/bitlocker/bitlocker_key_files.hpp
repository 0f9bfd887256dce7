#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/error.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

namespace coldtrace::ntfs {

// Files that contain keys for BitLocker volumes.
struct BitLockerKeyFiles {
  std::vector<std::string> passwords;      // each a password, with or without a line end
  std::vector<std::string> recovery_keys;  // 48 digits, also as Windows saves them
  std::vector<std::string> startup_keys;   // .BEK files

  [[nodiscard]] bool empty() const {
    return passwords.empty() && recovery_keys.empty() && startup_keys.empty();
  }
};

// Why a file contains no key: `error` if it cannot be read.
struct BitLockerKeyFileError {
  std::string path;
  std::string why;
  std::optional<core::ParseError> error;
};

// The contents of the files.
[[nodiscard]] core::Expected<std::vector<BitLockerKey>, BitLockerKeyFileError> read_bitlocker_keys(
    const BitLockerKeyFiles& files);

}  // namespace coldtrace::ntfs
