#pragma once

#include <string>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::pe {

// Relative virtual address: bytes from where the image is loaded. Only AddressMap turns it into
// a file offset.
enum class Rva : u32 {};

// As a number.
[[nodiscard]] constexpr u32 value(Rva rva) {
  return static_cast<u32>(rva);
}

// Saturates: an address that has left the image stays outside.
constexpr Rva operator+(Rva rva, u64 bytes) {
  constexpr u32 last = ~u32{0};
  return Rva{bytes > last - value(rva) ? last : value(rva) + static_cast<u32>(bytes)};
}

// "0x1234"
[[nodiscard]] std::string to_string(Rva rva);

}  // namespace coldtrace::pe
