#pragma once

#include <span>

#include "coldtrace/core/decompressed.hpp"

namespace coldtrace::tracefile {

// How the buffers of a relogged file are compressed.
// Source: Windows SDK ntwmi.h, TRACE_COMPRESSION and the State of the first buffer.
enum class Compression : u8 { none = 0, lznt1 = 2, xpress = 3, xpress_huffman = 4 };

[[nodiscard]] std::string_view to_string(Compression compression);

// Decompresses until `plain` is full or `compressed` ends.
core::Decompressed decompress(Compression compression, core::ByteView compressed,
                              std::span<std::byte> plain, u64 offset);

}  // namespace coldtrace::tracefile
