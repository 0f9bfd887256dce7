#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// CRC-32 as in ISO 3309, zlib and GPT: polynomial 0xedb88320, inverted at both ends.
[[nodiscard]] u32 crc32(ByteView bytes);

}  // namespace coldtrace::core
