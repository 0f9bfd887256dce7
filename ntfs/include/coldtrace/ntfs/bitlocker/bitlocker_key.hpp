#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_metadata.hpp"

namespace coldtrace::ntfs {

// What a person has to open BitLocker volumes with.
struct BitLockerKey {
  u16 kind;                           // of the protectors it may open
  std::array<std::byte, 32> bytes{};  // hashed: of a password and a recovery password
  std::optional<core::Guid> id = {};  // of the protector, where the key says it
};

// A password, in UTF-8.
[[nodiscard]] BitLockerKey bitlocker_password(std::string_view password);

// Eight groups of six digits, each a multiple of 11 below 720,896, anywhere in a text, as in the
// file that Windows prints. The group of the first such eight that is not one, from 1; 0 where
// there are no eight groups.
core::Expected<BitLockerKey, unsigned> bitlocker_recovery_password(std::string_view text);

// The bytes of a startup key, a file .BEK; nothing where it is none.
[[nodiscard]] std::optional<BitLockerKey> bitlocker_startup_key(core::ByteView file);

// The key of a volume's sectors, and what gave it.
struct BitLockerVolumeKey {
  u16 method = 0;
  std::vector<std::byte> bytes;
  std::size_t protector = 0;       // in the metadata
  std::optional<std::size_t> key;  // of those that were given; nothing: a clear key
};

// Opens a volume with a clear key, or else with the first of the keys that does. Nothing where none
// of them does. A password or recovery password costs a million hashes for each protector of its
// kind, of which no more than `most_stretched` are tried; findings tell of keys behind them.
[[nodiscard]] std::optional<BitLockerVolumeKey> open_bitlocker(const BitLockerMetadata& metadata,
                                                               std::span<const BitLockerKey> keys,
                                                               core::Findings& findings,
                                                               unsigned most_stretched = 32);

}  // namespace coldtrace::ntfs
