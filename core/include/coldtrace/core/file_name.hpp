#pragma once

#include <string_view>

#include "coldtrace/core/borrowed.hpp"

namespace coldtrace::core {

// The part behind the last '\' or '/' of a path of Windows or of this system.
[[nodiscard]] constexpr std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of("\\/") + 1);
}
template <TemporaryText T>
std::string_view file_name(T&&) = delete;

}  // namespace coldtrace::core
