#pragma once

#include <array>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// Numbers in big-endian image formats.
inline core::Result<u32> load_big_u32(const core::ImageSource& file, u64 offset) {
  std::array<std::byte, sizeof(u32)> bytes{};
  COLDTRACE_TRY(file.read_at(offset, bytes));
  return __builtin_bswap32(core::load<u32>(bytes, 0).value_or(0));
}

inline core::Result<u64> load_big_u64(const core::ImageSource& file, u64 offset) {
  std::array<std::byte, sizeof(u64)> bytes{};
  COLDTRACE_TRY(file.read_at(offset, bytes));
  return __builtin_bswap64(core::load<u64>(bytes, 0).value_or(0));
}

}  // namespace coldtrace::ntfs
