#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"

namespace coldtrace::ntfs {

// Volume shadow copies: what a volume was, kept as copies of the blocks of 16 KiB that were
// written since. Source: libvshadow, "Volume Shadow Snapshot (VSS) format", 0.0.17; bits 0x100 and
// 0x400 of a store's flags: dfir_ntfs, whose published hashes of sectors of the copies of a volume
// of Windows Server 2003 are those of what this reads.
constexpr u64 shadow_header_offset = 0x1E00;  // of the volume
constexpr u64 shadow_block_size = 0x4000;
// Windows keeps up to 512 of a volume.
constexpr std::size_t most_shadow_copies = 512;

// The names of the attributes of a shadow copy that are set ("persistent"); unknown bits as hex.
// Source: Windows SDK, VSS_VOLUME_SNAPSHOT_ATTRIBUTES.
[[nodiscard]] std::vector<std::string> shadow_attribute_names(u32 attributes);

// Where a volume is in its image, in bytes.
struct ShadowPlace {
  u64 offset;
  u64 size;
};

// A shadow copy, as the catalog of its volume and the header of its store say.
struct ShadowCopy {
  // What a store says of itself.
  struct Store {
    core::Guid copy_id;
    core::Guid set_id;
    u32 attributes;  // VSS_VOLUME_SNAPSHOT_ATTRIBUTES
    std::string machine;
  };
  // Bytes of the volume where the parts of a store are; 0: there is none.
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
  // Nothing where its store is on another volume, or the catalog does not say where it is.
  std::optional<Parts> parts;
  std::optional<Store> store;  // nothing where no header could be read

  // Windows shows it no more, and keeps it for older ones that need its blocks.
  [[nodiscard]] bool deleted() const { return (flags & 0x100) != 0; }
};

// What the volume itself says of its shadow copies.
struct ShadowHeader {
  u32 version;
  u64 catalog;       // byte of the volume; 0: there are none
  u64 largest_size;  // of all stores, bytes; 0: no limit
  core::Guid volume_id;
  core::Guid storage_id;  // of the volume that the stores are on

  [[nodiscard]] bool elsewhere() const { return volume_id != storage_id; }
};

}  // namespace coldtrace::ntfs
