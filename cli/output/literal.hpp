#pragma once

#include <cstring>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// Appends a text of known length, without a call of memcpy().
template <std::size_t Size>
void append_literal(core::TextBuffer& text, const char (&literal)[Size]) {
  std::memcpy(text.reserve(Size - 1), literal, Size - 1);
  text.commit(Size - 1);
}

}  // namespace coldtrace::cli
