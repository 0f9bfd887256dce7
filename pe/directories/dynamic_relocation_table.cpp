#include "pe/directories/dynamic_relocation_table.hpp"

namespace coldtrace::pe {

DynamicRelocationTable read_dynamic_relocations(const Image& image, const LoadConfig& config) {
  const u32 number = config.dynamic_relocations_section.value_or(0);
  if (number == 0 || config.dynamic_relocations_offset.value_or(0) == 0) return {};
  if (number > image.sections().size()) return {{}, "they lie in a section that does not exist"};
  const auto table = image.sections()[number - 1].address + *config.dynamic_relocations_offset;
  constexpr u32 header_size = 8;
  const auto header = image.bytes(table, header_size);
  const auto version = core::load<u32>(header, 0);
  const auto size = core::load<u32>(header, 4);
  if (!version || !size) return {{}, "they are not stored"};
  if (*version != 1) return {{}, "they are of a version other than 1"};
  const auto bytes = image.bytes(table + header_size, *size);
  const u32 width = image.optional_header().pointer_size();
  DynamicRelocationTable read;
  for (u64 at = 0; at + width + 4 <= bytes.size();) {
    const u64 symbol = width == 8 ? core::load<u64>(bytes, at).value_or(0)
                                  : core::load<u32>(bytes, at).value_or(0);
    const u64 length = core::load<u32>(bytes, at + width).value_or(0);
    at += width + 4;
    const auto blocks = core::slice(bytes, at, length);
    if (!blocks) {
      read.unread = "one extends beyond the table";
      return read;
    }
    at += length;
    read.relocations.push_back({symbol, *blocks});
  }
  return read;
}

}  // namespace coldtrace::pe
