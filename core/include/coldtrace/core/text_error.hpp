#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// What is wrong with a text that a person wrote, and where. Lines and columns count from 1, columns
// in bytes.
struct TextError {
  u32 line;
  u32 column;
  std::string message;
};

// "3:14: expected ';'"
[[nodiscard]] std::string to_string(const TextError& error);

// The error at `place`, which points into `text` or to its end.
[[nodiscard]] TextError error_at(std::string_view text, const char* place, std::string message);

}  // namespace coldtrace::core
