#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// Bytes in nettle's type.
inline const u8* nettle_bytes(const void* bytes) {
  return static_cast<const u8*>(bytes);
}

inline u8* nettle_bytes(void* bytes) {
  return static_cast<u8*>(bytes);
}

}  // namespace coldtrace::ntfs
