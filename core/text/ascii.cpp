#include "coldtrace/core/ascii.hpp"

#include <algorithm>

namespace coldtrace::core {

std::string to_lower(std::string_view text) {
  std::string lower{text};
  for (auto& c : lower) c = to_lower(c);
  return lower;
}

bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

}  // namespace coldtrace::core
