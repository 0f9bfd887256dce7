#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// CRC-32C (Castagnoli) as in RFC 3720 (iSCSI): polynomial 0x82f63b78, inverted at both ends.
[[nodiscard]] u32 crc32c(ByteView bytes);

// The CRC of what `before` is the CRC of, followed by `bytes`.
[[nodiscard]] u32 crc32c(u32 before, ByteView bytes);

}  // namespace coldtrace::core
