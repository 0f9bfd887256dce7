#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::core {

// The size of the window, and of each separately compressed chunk.
constexpr std::size_t lzx_window = 0x8000;

// Decompresses one LZX chunk, as in the files that Windows keeps compressed, until `plain` is full:
// at most `lzx_window` bytes. `offset` is where `compressed` lies in its file. The targets of x86
// calls are translated back once the chunk is complete, so the certain bytes of a damaged chunk may
// still contain translated ones.
// Source: [MS-PATCH], "LZX DELTA Compression and Decompression", without its chunk sizes and file
// size; wimlib's notes on LZX in WIM files: blocks have a bit for the default size of 0x8000, and
// calls are always translated, for a file of 12,000,000 bytes.
Decompressed decompress_lzx(ByteView compressed, std::span<std::byte> plain, u64 offset);

}  // namespace coldtrace::core
