#pragma once

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// JSON strings written straight into a buffer, eight characters at a time.

// Appends the text in quotes. Bytes that are not UTF-8 become U+FFFD; returns whether there were
// none.
bool append_json_text(core::TextBuffer& json, std::string_view text);

// The same in a place with room for longest_json_text(text.size()) characters; the place moves to
// the end of what was written.
constexpr std::size_t longest_json_text(std::size_t size) {
  return size * 6 + 10;  // escapes as "\u001b", the quotes, and eight characters written at a time
}
bool write_json_text(char*& at, std::string_view text);

// Appends UTF-16LE units in quotes. Unpaired surrogates become U+FFFD; returns whether there were
// none.
bool append_json_utf16(core::TextBuffer& json, core::ByteView units);

}  // namespace coldtrace::cli
