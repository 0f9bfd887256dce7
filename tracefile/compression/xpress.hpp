#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::tracefile {

// Decompresses until `plain` is full or `compressed` ends; a shorter `plain` than the data gets
// its beginning. `offset` is where `compressed` lies in its file.
// Source: MS-XCA, "Plain LZ77 Decompression Algorithm Details".
core::Decompressed decompress_xpress(core::ByteView compressed, std::span<std::byte> plain,
                                     u64 offset);

}  // namespace coldtrace::tracefile
