#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <type_traits>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_export {

// Appends fields of an event as CTF has them without alignment: integers little-endian, texts up to
// a zero. One that is empty is "-": babeltrace2 2.0.4 shows that of the event before for it.
class CtfFields {
 public:
  explicit CtfFields(std::string& bytes) : bytes_{bytes} {}

  template <class Integer>
  CtfFields& number(Integer value) {
    const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      bytes_.push_back(static_cast<char>(static_cast<u64>(bits) >> (8 * i) & 0xffU));
    return *this;
  }
  CtfFields& text(std::string_view text) {
    const auto whole = text.substr(0, text.find('\0'));
    bytes_.append(whole.empty() ? "-" : whole).push_back('\0');
    return *this;
  }
  CtfFields& bytes(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }

 private:
  std::string& bytes_;
};

}  // namespace coldtrace::trace_export
