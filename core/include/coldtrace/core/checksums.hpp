#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Adler-32 of RFC 1950. `start` is the checksum of the bytes before these.
[[nodiscard]] u32 adler32(ByteView bytes, u32 start = 1);

// CRC-32 as in ISO 3309, zlib and GPT: polynomial 0xedb88320, inverted at both ends.
[[nodiscard]] u32 crc32(ByteView bytes);

}  // namespace coldtrace::core
