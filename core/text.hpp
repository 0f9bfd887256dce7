#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/reader.hpp"

namespace coldtrace::core {

// Bytes seen as characters of one byte each.
std::string_view to_chars(ByteView bytes);

// The characters before the first NUL; nothing when there is none within the first `limit` + 1
// bytes.
std::optional<std::string_view> read_c_string(ByteView bytes, std::size_t limit);

bool is_valid_utf8(std::string_view text);

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

}  // namespace coldtrace::core
