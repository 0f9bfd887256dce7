#pragma once

#include <algorithm>
#include <vector>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// How many of the ascending addresses are as near to `address` as the modules of a process are to
// each other, and other allocations are not: within 4 GiB in an address space of 128 TiB, 64 MiB in
// one of 2 GiB.
inline std::ptrdiff_t count_near(const std::vector<u64>& ascending, u64 address,
                                 const Image& image) {
  const u64 far = image.optional_header().pe32_plus ? u64{1} << 32 : u64{64} << 20;
  const auto from =
      std::lower_bound(ascending.begin(), ascending.end(), address - std::min(address, far));
  const auto to = std::upper_bound(ascending.begin(), ascending.end(),
                                   address > ~u64{0} - far ? ~u64{0} : address + far);
  return to - from;
}

}  // namespace coldtrace::pe
