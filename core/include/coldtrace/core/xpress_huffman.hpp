#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::core {

// Decompresses LZ77 with Huffman codes until `plain` is full or `compressed` ends: blocks of 64 KiB
// of plain bytes, each with its own table of 512 code lengths. `offset` is where `compressed` lies
// in its file.
// Source: MS-XCA, "LZ77+Huffman Decompression Algorithm Details".
Decompressed decompress_xpress_huffman(ByteView compressed, std::span<std::byte> plain, u64 offset);

}  // namespace coldtrace::core
