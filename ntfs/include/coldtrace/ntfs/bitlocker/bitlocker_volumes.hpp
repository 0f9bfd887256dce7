#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"

namespace coldtrace::ntfs {

// A BitLocker volume of an image.
struct BitLockerVolume {
  BitLockerMetadata metadata;
  bool opened = false;
  std::optional<std::size_t> protector = {};  // that opened it; nothing: it is decrypted
  std::optional<std::size_t> key = {};        // index into the given keys
};

// Sorted by start.
using BitLockerVolumes = std::map<u64, BitLockerVolume>;

// The caller's names for the keys that it accepts.
struct BitLockerKeyNames {
  std::string_view password;
  std::string_view recovery_key;
  std::string_view startup_key;
};

// Opens those among `partitions` that a key opens or that need none: `image` then has them
// decrypted, and their kind is that of their contents.
void open_bitlocker_volumes(std::span<const BitLockerKey> keys,
                            std::unique_ptr<core::ImageSource>& image,
                            std::span<Partition> partitions, BitLockerVolumes& volumes,
                            core::Findings& findings);

// Reports how many of the keys opened none of the volumes.
void tell_unused_keys(std::size_t keys, const BitLockerVolumes& volumes, core::Findings& findings);

// "AES-XTS-128", or "not encrypted".
[[nodiscard]] std::string encryption_text(const BitLockerMetadata& metadata);

// What a locked volume needs: "partition 2 is a BitLocker volume, ...".
[[nodiscard]] std::string describe_locked(const Partition& partition, const BitLockerVolume& volume,
                                          bool keys_given, const BitLockerKeyNames& names);

}  // namespace coldtrace::ntfs
