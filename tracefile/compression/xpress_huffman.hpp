#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::tracefile {

// As decompress_xpress, for LZ77 with Huffman codes: blocks of 64 KiB plain bytes, each with its
// own table of 512 code lengths.
// Source: MS-XCA, "LZ77+Huffman Decompression Algorithm Details".
core::Decompressed decompress_xpress_huffman(core::ByteView compressed, std::span<std::byte> plain,
                                             u64 offset);

}  // namespace coldtrace::tracefile
