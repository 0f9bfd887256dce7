#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// CRC-32C (Castagnoli) as in RFC 3720 (iSCSI): polynomial 0x82f63b78, inverted at both ends.
[[nodiscard]] u32 crc32c(ByteView bytes);

// Continues a CRC: `before` is that of the bytes in front of `bytes`.
[[nodiscard]] u32 crc32c(u32 before, ByteView bytes);

}  // namespace coldtrace::core
