#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"
#include "coldtrace/ntfs/partition.hpp"

namespace coldtrace::cli {

// A BitLocker volume of an image.
struct BitLockerVolume {
  ntfs::BitLockerMetadata metadata;
  bool opened = false;
  std::optional<std::size_t> protector = {};  // what it was opened with; a decrypted one: nothing
  std::optional<std::size_t> key = {};        // of those that were given
};

// By where they start.
using BitLockerVolumes = std::map<u64, BitLockerVolume>;

// Opens those among `partitions` that a key or they themselves open: `image` has them decrypted
// then, and their kind is that of what they hold.
void open_bitlocker_volumes(std::span<const ntfs::BitLockerKey> keys,
                            std::unique_ptr<core::ImageSource>& image,
                            std::span<ntfs::Partition> partitions, BitLockerVolumes& volumes,
                            core::Findings& findings);

// Tells how many of the keys opened none of the volumes.
void tell_unused_keys(std::size_t keys, const BitLockerVolumes& volumes, core::Findings& findings);

// What a volume that is locked needs: "partition 2 is a BitLocker volume, ...".
std::string describe_locked(const ntfs::Partition& partition, const BitLockerVolume& volume,
                            bool keys_given);

// The member "bitlocker" of a partition, and its lines; null: it is no such volume.
void write_bitlocker(JsonWriter& json, const BitLockerVolume* volume, bool named);
void write_bitlocker_text(Output& output, const BitLockerVolume& volume, bool named);

}  // namespace coldtrace::cli
