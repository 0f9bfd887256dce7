#include "core/files/dos_program.hpp"

namespace coldtrace::core {

bool is_dos_program(ByteView head, u64 size) {
  constexpr u32 page = 512;
  constexpr u32 paragraph = 16;
  constexpr u16 header_end = 28;
  constexpr u16 later_formats = 64;
  const auto header = Fields<header_end>::at(head, 0);
  if (!header) return false;
  const u32 used = header->get<u16, 2>();  // of the last page; 0: all
  const u32 pages = header->get<u16, 4>();
  const u32 header_size = header->get<u16, 8>() * paragraph;
  const auto relocations = header->get<u16, 24>();
  if (pages == 0 || used >= page) return false;
  const u32 counted = pages * page - (used == 0 ? 0 : page - used);
  return relocations >= header_end && relocations < later_formats && counted <= size &&
         header_size >= header_end && header_size < counted;
}

}  // namespace coldtrace::core
