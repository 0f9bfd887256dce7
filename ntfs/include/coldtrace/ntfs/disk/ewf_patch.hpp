#pragma once

#include <cstddef>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// Bytes of a segment's file as libewf should see them, where the file itself is damaged.
struct EwfPatch {
  u64 offset;
  std::vector<std::byte> bytes;
};

}  // namespace coldtrace::ntfs
