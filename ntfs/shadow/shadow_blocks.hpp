#pragma once

#include <array>
#include <functional>
#include <optional>
#include <unordered_set>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/shadow/shadow_copy.hpp"

namespace coldtrace::ntfs {

enum class ShadowBlockType : u32 { header = 1, catalog = 2, changes = 3, store = 4, bitmap = 6 };

constexpr std::size_t shadow_block_header_size = 128;
constexpr u64 no_offset = ~u64{0};

// Whether the bytes start with the GUID common to all structures of shadow copies.
bool has_shadow_guid(core::ByteView bytes);

// Adds a finding if the header of a block has another version than the only known one, 1.
void note_block_version(core::ByteView block, u64 offset, core::Name code,
                        core::Findings& findings);

// Reads metadata blocks of a volume. A block is read once: one to which a chain, the same or
// another, leads again is a loop, so that the volume's size bounds all work.
class ShadowBlocks {
 public:
  ShadowBlocks(const core::ImageSource& image, ShadowPlace place) : image_{&image}, place_{place} {}

  using Visit = std::function<void(core::ByteView block, u64 offset)>;

  // Passes each block of a chain to `visit`, with its offset in the image. Returns why the chain
  // broke off, if it did.
  std::optional<core::ParseError> visit_chain(u64 first, ShadowBlockType type, const Visit& visit);

  const core::ImageSource& image() const { return *image_; }
  const ShadowPlace& place() const { return place_; }

 private:
  // The offset of the next block, 0 after the last.
  core::Result<u64> read(u64 offset, ShadowBlockType type);

  const core::ImageSource* image_;
  ShadowPlace place_;
  std::unordered_set<u64> seen_;
  std::array<std::byte, shadow_block_size> block_;
};

}  // namespace coldtrace::ntfs
