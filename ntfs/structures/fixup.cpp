#include "coldtrace/ntfs/structures/fixup.hpp"

#include <algorithm>
#include <cstring>

namespace coldtrace::ntfs {

Fixup apply_fixups(std::span<std::byte> structure) {
  const auto header = core::Fields<8>::at(structure, 0);
  if (!header) return {.incomplete = true};
  const u32 array_offset = header->get<u16, 4>();
  const u32 array_count = header->get<u16, 6>();
  const auto strides = static_cast<u32>(structure.size() / fixup_stride);
  // The array lies in the first stride, before the bytes that it protects.
  if (array_count == 0 || array_offset % 2 != 0 || array_offset < 0x28 ||
      array_offset + array_count * 2 > fixup_stride - 2)
    return {.incomplete = strides > 0};
  const std::byte* array = structure.data() + array_offset;
  Fixup result{.incomplete = array_count - 1 != strides};
  const u32 count = std::min(array_count - 1, strides);
  for (u32 i = 1; i <= count; ++i) {
    std::byte* place = structure.data() + std::size_t{i} * fixup_stride - 2;
    if (std::memcmp(place, array, 2) == 0) {
      std::memcpy(place, array + std::size_t{i} * 2, 2);
    } else {
      result.torn = true;
    }
  }
  return result;
}

}  // namespace coldtrace::ntfs
