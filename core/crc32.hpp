#pragma once

#include "core/reader.hpp"

namespace coldtrace::core {

// CRC-32 as in ISO 3309, zlib and GPT: polynomial 0xedb88320, inverted at both ends.
u32 crc32(ByteView bytes);

// CRC-32C as in RFC 3720: the polynomial of Castagnoli, 0x82f63b78, inverted at both ends.
// `before` is the CRC of the bytes that stand before these.
u32 crc32c(ByteView bytes, u32 before = 0);

}  // namespace coldtrace::core
