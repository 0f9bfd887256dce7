#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::core {

// Windows reaches back this far, which is as much as is compressed at a time.
constexpr std::size_t lzx_window = 0x8000;

// Decompresses one LZX chunk, as Windows has them in files that it keeps compressed, until `plain`
// is full: at most `lzx_window` bytes. `offset` is where `compressed` lies in its file. Addresses
// behind calls of x86 code are put back once the chunk is whole, so that of damaged ones the bytes
// that are certain may have those of the compressed chunk.
// Source: [MS-PATCH], "LZX DELTA Compression and Decompression", without its chunk sizes and file
// size; wimlib's notes on LZX in WIM files: blocks have a bit for the usual size of 0x8000, and
// calls are always put back, for a file of 12,000,000 bytes.
Decompressed decompress_lzx(ByteView compressed, std::span<std::byte> plain, u64 offset);

}  // namespace coldtrace::core
