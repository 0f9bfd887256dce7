// Any bytes: never more than there is room for, and the place of damage inside the input.

#include <cstdint>
#include <span>
#include <vector>

#include "coldtrace/core/lzx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto packed = std::as_bytes(std::span{data, size});
  for (const std::size_t room : {std::size_t{1}, std::size_t{5000}, coldtrace::core::lzx_window}) {
    std::vector<std::byte> plain(room);
    const auto result = coldtrace::core::decompress_lzx(packed, plain, 0);
    if (result.size > plain.size()) __builtin_trap();
    if (result.damaged && result.error.offset > size) __builtin_trap();
    if (!result.damaged && result.size != plain.size()) __builtin_trap();
  }
  return 0;
}
