#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_metadata.hpp"

namespace coldtrace::ntfs {

// A secret that opens BitLocker volumes.
struct BitLockerKey {
  u16 kind;                           // of the protectors that it may open
  std::array<std::byte, 32> bytes{};  // hashed, for a password and a recovery password
  std::optional<core::Guid> id = {};  // of the protector, if the key contains it
};

// A password, in UTF-8.
[[nodiscard]] BitLockerKey bitlocker_password(std::string_view password);

// Eight groups of six digits, each a multiple of 11 below 720,896, anywhere in a text, as in the
// file that Windows prints. The error is the number, from 1, of the first invalid group, or 0 if
// there are no eight groups.
core::Expected<BitLockerKey, unsigned> bitlocker_recovery_password(std::string_view text);

// The bytes of a startup key, a .BEK file; nothing if it is not one.
[[nodiscard]] std::optional<BitLockerKey> bitlocker_startup_key(core::ByteView file);

// The key of a volume's sectors, and its source.
struct BitLockerVolumeKey {
  u16 method = 0;
  std::vector<std::byte> bytes;
  std::size_t protector = 0;       // in the metadata
  std::optional<std::size_t> key;  // index into the given keys; nothing: a clear key
};

// Opens a volume with a clear key, otherwise with the first of the keys that fits; nothing if none
// does. A password or recovery password costs a million hashes for each protector of its kind, of
// which at most `most_stretched` are tried; findings report keys after that limit.
[[nodiscard]] std::optional<BitLockerVolumeKey> open_bitlocker(const BitLockerMetadata& metadata,
                                                               std::span<const BitLockerKey> keys,
                                                               core::Findings& findings,
                                                               unsigned most_stretched = 32);

}  // namespace coldtrace::ntfs
