// Any bytes: never more than there is room for, the place of damage inside the input, and less
// room gives the beginning of what more room gives.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coldtrace/core/xpress_huffman.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto packed = std::as_bytes(std::span{data, size});
  std::vector<std::byte> plain(200'000);
  const auto result = coldtrace::core::decompress_xpress_huffman(packed, plain, 0);
  if (result.size > plain.size()) __builtin_trap();
  if (result.damaged && result.error.offset > size) __builtin_trap();
  std::vector<std::byte> less(result.size / 2);
  const auto beginning = coldtrace::core::decompress_xpress_huffman(packed, less, 0);
  if (beginning.size > less.size()) __builtin_trap();
  if (!std::equal(less.begin(), less.begin() + static_cast<std::ptrdiff_t>(beginning.size),
                  plain.begin()))
    __builtin_trap();
  return 0;
}
