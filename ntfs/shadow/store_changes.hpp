#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "ntfs/shadow/shadow_blocks.hpp"

namespace coldtrace::ntfs {

// Where the bytes of one block are now, elsewhere than when the copy was made. Blocks are numbered
// from the start of the volume, origins are byte offsets in it.
struct ShadowBlock {
  u64 block;
  u64 origin;
};

// Sectors of a block that are elsewhere than the rest of it, in this copy only.
struct ShadowOverlay {
  u64 block;
  u64 origin;
  u32 sectors;  // bit n: sector n of 512 bytes
};

// What one store contains, by block.
struct StoreChanges {
  std::vector<ShadowBlock> stored;     // kept by the store
  std::vector<ShadowBlock> forwarded;  // moved: read in the next newer copy at `origin`
  std::vector<ShadowOverlay> overlays;
  // One bit per block: not in use when the copy was made, and read as zeros by Windows. Empty if
  // Windows reads what is there now.
  std::vector<u8> zeros;

  bool is_zero(u64 block) const {
    return block / 8 < zeros.size() && (zeros[block / 8] >> block % 8 & 1) != 0;
  }
};

// Damage is a finding; `copy` must have stored parts.
StoreChanges read_store_changes(ShadowBlocks& blocks, const ShadowCopy& copy,
                                core::Findings& findings);

}  // namespace coldtrace::ntfs
