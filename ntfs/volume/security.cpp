#include "coldtrace/ntfs/security.hpp"

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
  constexpr u32 head_size = 20;
  const auto offset = core::load<u32>(descriptor, 4);
  if (core::load<u8>(descriptor, 0) != u8{1} || !offset || descriptor.size() < head_size)
    return std::nullopt;
  if (*offset == 0) return core::ByteView{};
  return *offset < head_size ? std::nullopt : slice_sid(descriptor, *offset);
}

}  // namespace coldtrace::ntfs
