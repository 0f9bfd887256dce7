#include "coldtrace/core/guid.hpp"

#include <algorithm>

#include "coldtrace/core/hex.hpp"

namespace coldtrace::core {

Guid to_guid(ByteView bytes) {
  Guid guid;
  std::copy_n(bytes.begin(), std::min(bytes.size(), Guid::size_on_disk), guid.bytes.begin());
  return guid;
}

std::string to_string(const Guid& guid) {
  constexpr std::size_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < std::size(order); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    append_hex(text, ByteView{&guid.bytes[order[i]], 1});
  }
  return text;
}

}  // namespace coldtrace::core
