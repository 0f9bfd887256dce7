#include "coldtrace/ntfs/security.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::ntfs {

std::optional<core::ByteView> slice_sid(core::ByteView bytes, u64 offset) {
  const auto revision = core::load<u8>(bytes, offset);
  const auto count = core::load<u8>(bytes, offset + 1);
  if (!revision || !count || *revision != 1 || *count > 15) return std::nullopt;
  return core::slice(bytes, offset, 8 + u64{*count} * 4);
}

std::string sid_to_string(core::ByteView sid) {
  if (sid.size() < 8) return {};
  u64 authority = 0;
  for (std::size_t i = 2; i < 8; ++i) authority = authority << 8 | std::to_integer<u64>(sid[i]);
  // Source: [MS-DTYP] 2.4.2.1: authorities above 32 bits are hexadecimal.
  std::string text = authority >> 32 ? fmt::format("S-{}-{:#014x}", u8(sid[0]), authority)
                                     : fmt::format("S-{}-{}", u8(sid[0]), authority);
  for (u64 at = 8; at + 4 <= sid.size(); at += 4)
    fmt::format_to(std::back_inserter(text), "-{}", *core::load<u32>(sid, at));
  return text;
}

std::optional<core::ByteView> find_owner(core::ByteView descriptor) {
  const auto offset = core::load<u32>(descriptor, 4);
  if (core::load<u8>(descriptor, 0) != u8{1} || !offset || *offset == 0) return std::nullopt;
  return slice_sid(descriptor, *offset);
}

void add_security_owners(core::ByteView piece, u64 position, SecurityOwners& owners) {
  constexpr u64 head_size = 20;
  for (u64 at = 0; at < piece.size();) {
    const u64 place = position + at;
    const u64 block_left = security_block_size - place % security_block_size;
    if (place / security_block_size % 2 != 0) {
      at += block_left;
      continue;
    }
    const auto head = core::Fields<head_size>::at(piece, at);
    if (!head) break;
    const u32 id = head->get<u32, 4>();
    const u32 length = head->get<u32, 0x10>();
    // Zeros fill a block behind its last entry.
    if (id == 0 && length == 0) {
      at += block_left;
      continue;
    }
    // Behind the last entry there may be anything: clusters are not cleared for the stream.
    if (head->get<u64, 8>() != place || length < head_size || length > block_left) {
      at += 16;
      continue;
    }
    if (const auto descriptor = core::slice(piece, at + head_size, length - head_size))
      if (const auto owner = find_owner(*descriptor)) owners.emplace(id, sid_to_string(*owner));
    at += (u64{length} + 15) / 16 * 16;
  }
}

}  // namespace coldtrace::ntfs
