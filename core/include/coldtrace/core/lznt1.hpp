#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::core {

// Decompresses LZNT1 chunks until `plain` is full or `compressed` ends. `offset` is where
// `compressed` lies in its file.
// Source: MS-XCA, "LZNT1 Algorithm Details": chunks of up to 4096 plain bytes.
Decompressed decompress_lznt1(ByteView compressed, std::span<std::byte> plain, u64 offset);

}  // namespace coldtrace::core
