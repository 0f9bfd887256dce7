#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"

namespace coldtrace::ntfs {

// Volume shadow copies: an earlier state of a volume, kept as copies of the blocks of 16 KiB that
// were written since. Source: libvshadow, "Volume Shadow Snapshot (VSS) format", 0.0.17; bits 0x100
// and 0x400 of a store's flags: dfir_ntfs, whose published hashes of sectors of the copies of a
// volume of Windows Server 2003 equal those of what this reads.
constexpr u64 shadow_header_offset = 0x1E00;  // of the volume
constexpr u64 shadow_block_size = 0x4000;
// Windows keeps up to 512 for a volume.
constexpr std::size_t most_shadow_copies = 512;

// The names of the attributes that are set for a shadow copy ("persistent"); unknown bits as hex.
// Source: Windows SDK, VSS_VOLUME_SNAPSHOT_ATTRIBUTES.
[[nodiscard]] std::vector<std::string> shadow_attribute_names(u32 attributes);

// The place of a volume in its image, in bytes.
struct ShadowPlace {
  u64 offset;
  u64 size;
};

// A shadow copy, from the catalog of its volume and the header of its store.
struct ShadowCopy {
  // The data in a store's header.
  struct Store {
    core::Guid copy_id;
    core::Guid set_id;
    u32 attributes;  // VSS_VOLUME_SNAPSHOT_ATTRIBUTES
    std::string machine;
  };
  // Bytes of the volume where the parts of a store are; 0: none.
  struct Parts {
    u64 blocks;
    u64 header;
    u64 bitmap;
    u64 previous_bitmap;
  };

  u32 number;  // from 1, the oldest
  core::FileTime created;
  core::Guid store_id;  // in the name of its file in System Volume Information
  u64 sequence;
  u64 volume_size;  // bytes
  u64 flags;
  // Nothing if its store is on another volume, or the catalog does not say where it is.
  std::optional<Parts> parts;
  std::optional<Store> store;  // nothing if no header could be read

  // Windows no longer shows it, and keeps it for older ones that need its blocks.
  [[nodiscard]] bool deleted() const { return (flags & 0x100) != 0; }
};

// What the volume itself says about its shadow copies.
struct ShadowHeader {
  u32 version;
  u64 catalog;       // byte of the volume; 0: none
  u64 largest_size;  // of all stores, bytes; 0: no limit
  core::Guid volume_id;
  core::Guid storage_id;  // of the volume that contains the stores

  [[nodiscard]] bool elsewhere() const { return volume_id != storage_id; }
};

}  // namespace coldtrace::ntfs
