#include "ntfs/shadow/store_changes.hpp"

#include <algorithm>
#include <unordered_map>

namespace coldtrace::ntfs {
namespace {

// Of a store: zeros are given for blocks that were not in use. Windows 8 brought it (libvshadow);
// without it what is there now is given (dfir_ntfs).
constexpr u64 flag_zeros = 0x400;

struct Descriptor {
  static constexpr u32 forwarder = 1;
  static constexpr u32 overlay = 2;
  static constexpr u32 unused = 4;
  static constexpr u32 known = 0xFF;
  static constexpr std::size_t size = 32;

  u64 original;  // bytes of the volume
  u64 relative;  // of a forwarder: the byte of the volume that the block was moved to
  u64 stored;    // bytes of the volume
  u32 flags;
  u32 sectors;
};

// The descriptors of one store, in the order in which they were written.
class ChangeList {
 public:
  ChangeList(u64 copy_size, u64 volume_size) : copy_size_{copy_size}, volume_size_{volume_size} {}

  // False where the descriptor cannot be one.
  bool add(Descriptor descriptor);
  StoreChanges take();

 private:
  struct Change {
    u64 stored = no_offset;
    u64 moved_to = no_offset;
  };

  bool is_valid(const Descriptor& descriptor) const;

  u64 copy_size_;
  u64 volume_size_;
  std::unordered_map<u64, Change> changes_;  // by offset
  std::unordered_map<u64, u64> moved_from_;  // where a block was moved to, where it was
  std::vector<ShadowOverlay> overlays_;
};

bool ChangeList::is_valid(const Descriptor& descriptor) const {
  const bool moved = (descriptor.flags & Descriptor::forwarder) != 0;
  const bool overlay = (descriptor.flags & Descriptor::overlay) != 0;
  if ((descriptor.flags & ~Descriptor::known) != 0 || (moved && overlay)) return false;
  if (descriptor.original % shadow_block_size != 0 || descriptor.original >= copy_size_)
    return false;
  const u64 place = moved ? descriptor.relative : descriptor.stored;
  return place % shadow_block_size == 0 && place < volume_size_;
}

bool ChangeList::add(Descriptor descriptor) {
  if ((descriptor.flags & Descriptor::unused) != 0) return true;
  if (!is_valid(descriptor)) return false;
  if ((descriptor.flags & Descriptor::overlay) != 0) {
    overlays_.push_back(
        {descriptor.original / shadow_block_size, descriptor.stored, descriptor.sectors});
    return true;
  }
  // What happens to a block where it was moved to happens to it where it was.
  if (const auto from = moved_from_.find(descriptor.original); from != moved_from_.end()) {
    descriptor.original = from->second;
    moved_from_.erase(from);
  }
  if ((descriptor.flags & Descriptor::forwarder) == 0) {
    changes_[descriptor.original].stored = descriptor.stored;
  } else if (descriptor.original == descriptor.relative) {
    changes_.erase(descriptor.original);  // moved back
  } else {
    changes_[descriptor.original].moved_to = descriptor.relative;
    moved_from_[descriptor.relative] = descriptor.original;
  }
  return true;
}

StoreChanges ChangeList::take() {
  StoreChanges result;
  for (const auto& [offset, change] : changes_) {
    if (change.stored != no_offset)
      result.stored.push_back({offset / shadow_block_size, change.stored});
    else
      result.forwarded.push_back({offset / shadow_block_size, change.moved_to});
  }
  std::ranges::sort(result.stored, {}, &ShadowBlock::block);
  std::ranges::sort(result.forwarded, {}, &ShadowBlock::block);
  std::ranges::stable_sort(overlays_, {}, &ShadowOverlay::block);
  result.overlays = std::move(overlays_);
  return result;
}

void read_descriptors(core::ByteView block, u64 offset, ChangeList& list,
                      core::Findings& findings) {
  for (u64 at = shadow_block_header_size; at + Descriptor::size <= block.size();
       at += Descriptor::size) {
    const auto fields = core::Fields<Descriptor::size>::at(block, at);
    const Descriptor descriptor{fields->get<u64, 0>(), fields->get<u64, 8>(),
                                fields->get<u64, 16>(), fields->get<u32, 24>(),
                                fields->get<u32, 28>()};
    if (descriptor.stored == 0 && descriptor.flags == 0) return;  // behind the last
    if (!list.add(descriptor))
      findings.warning("shadow-block", offset + at,
                       "a block of a shadow copy cannot be where the store says: byte {:#x} of the "
                       "volume at {:#x}, flags {:#x}; it is left out",
                       descriptor.original, descriptor.stored, descriptor.flags);
  }
}

// The bits of a chain of bitmap blocks. Nothing where there is none, or it cannot be read.
std::vector<u8> read_bitmap(ShadowBlocks& blocks, const ShadowCopy& copy, u64 first,
                            core::Findings& findings) {
  std::vector<u8> bits;
  const u64 limit = copy.volume_size / shadow_block_size / 8 + 1;
  const auto error =
      blocks.visit_chain(first, ShadowBlockType::bitmap, [&](core::ByteView block, u64 offset) {
        note_block_version(block, offset, "shadow-bitmap", findings);
        const auto part = block.subspan(shadow_block_header_size);
        const auto count = std::min<u64>(part.size(), limit - std::min<u64>(limit, bits.size()));
        for (const auto byte : part.first(count)) bits.push_back(std::to_integer<u8>(byte));
      });
  if (error)
    findings.warning("shadow-bitmap", error->offset,
                     "which blocks of shadow copy {} were not in use is not fully known: {}",
                     copy.number, *error);
  return bits;
}

// A block that the copy before it had in use was kept for that one.
std::vector<u8> read_zeros(ShadowBlocks& blocks, const ShadowCopy& copy, core::Findings& findings) {
  if ((copy.flags & flag_zeros) == 0) return {};
  auto bits = read_bitmap(blocks, copy, copy.parts->bitmap, findings);
  if (copy.parts->previous_bitmap == 0) return bits;
  const auto previous = read_bitmap(blocks, copy, copy.parts->previous_bitmap, findings);
  for (std::size_t i = 0; i < std::min(bits.size(), previous.size()); ++i)
    bits[i] = static_cast<u8>(bits[i] & previous[i]);
  return bits;
}

}  // namespace

StoreChanges read_store_changes(ShadowBlocks& blocks, const ShadowCopy& copy,
                                core::Findings& findings) {
  ChangeList list{copy.volume_size, blocks.place().size};
  const auto error = blocks.visit_chain(
      copy.parts->blocks, ShadowBlockType::changes, [&](core::ByteView block, u64 offset) {
        note_block_version(block, offset, "shadow-list", findings);
        read_descriptors(block, offset, list, findings);
      });
  if (error)
    findings.warning("shadow-list", error->offset,
                     "the list of what shadow copy {} keeps is damaged; blocks of it and of older "
                     "copies are read as they were later: {}",
                     copy.number, *error);
  auto changes = list.take();
  changes.zeros = read_zeros(blocks, copy, findings);
  return changes;
}

}  // namespace coldtrace::ntfs
