#include "coldtrace/tracefile/compression/decompress.hpp"

#include "coldtrace/core/lznt1.hpp"
#include "coldtrace/core/xpress_huffman.hpp"
#include "tracefile/compression/xpress.hpp"

namespace coldtrace::tracefile {

std::string_view to_string(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "none";
    case Compression::lznt1:
      return "lznt1";
    case Compression::xpress:
      return "xpress";
    case Compression::xpress_huffman:
      return "xpress_huffman";
  }
  return "unknown";
}

core::Decompressed decompress(Compression compression, core::ByteView compressed,
                              std::span<std::byte> plain, u64 offset) {
  switch (compression) {
    case Compression::lznt1:
      return core::decompress_lznt1(compressed, plain, offset);
    case Compression::xpress_huffman:
      return core::decompress_xpress_huffman(compressed, plain, offset);
    case Compression::none:  // flagged as compressed, but no format is named: the usual one
    case Compression::xpress:
      break;
  }
  return decompress_xpress(compressed, plain, offset);
}

}  // namespace coldtrace::tracefile
