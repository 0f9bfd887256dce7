#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {

// Of a PeSpec, unless it says otherwise.
inline constexpr u64 spec_base = 0x1'8000'0000;

// An image of x64 that exports functions of its first section: `size` bytes from RVA 0x1000 on,
// with the bytes of each piece at its RVA, and `filler` between them.
inline fixtures::PeSpec spec_of_code(
    std::size_t size, std::byte filler, fixtures::PeExports exports,
    const std::vector<std::pair<std::size_t, fixtures::Bytes>>& pieces) {
  fixtures::PeSpec spec;
  auto& code = spec.sections[0].content;
  code.assign(size, filler);
  for (const auto& [rva, bytes] : pieces)
    std::copy(bytes.begin(), bytes.end(), code.begin() + static_cast<std::ptrdiff_t>(rva) - 0x1000);
  spec.exports = std::move(exports);
  return spec;
}

}  // namespace coldtrace
