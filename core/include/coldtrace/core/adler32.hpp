#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Adler-32 of RFC 1950. `start` is the checksum of the bytes before these.
[[nodiscard]] u32 adler32(ByteView bytes, u32 start = 1);

}  // namespace coldtrace::core
