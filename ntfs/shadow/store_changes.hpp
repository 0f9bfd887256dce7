#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "ntfs/shadow/shadow_blocks.hpp"

namespace coldtrace::ntfs {

// Where the bytes of one block are that were in another place of the volume when the copy was
// made. Blocks are numbered from the start of the volume, origins are bytes of it.
struct ShadowBlock {
  u64 block;
  u64 origin;
};

// Sectors of a block that are somewhere else than the rest of it, in the copy itself alone.
struct ShadowOverlay {
  u64 block;
  u64 origin;
  u32 sectors;  // bit n: sector n of 512 bytes
};

// What one store has, by block.
struct StoreChanges {
  std::vector<ShadowBlock> stored;     // kept by the store
  std::vector<ShadowBlock> forwarded;  // moved: read in the next newer copy at `origin`
  std::vector<ShadowOverlay> overlays;
  // A bit for each block: not in use when the copy was made, and Windows gives zeros for it.
  // Empty where it gives what is there now.
  std::vector<u8> zeros;

  bool is_zero(u64 block) const {
    return block / 8 < zeros.size() && (zeros[block / 8] >> block % 8 & 1) != 0;
  }
};

// Damage is a finding; `copy` has parts.
StoreChanges read_store_changes(ShadowBlocks& blocks, const ShadowCopy& copy,
                                core::Findings& findings);

}  // namespace coldtrace::ntfs
