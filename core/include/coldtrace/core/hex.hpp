#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Lower-case hexadecimal digits, two a byte, no separators.
[[nodiscard]] std::string to_hex(ByteView bytes);
void append_hex(std::string& text, ByteView bytes);

// The same to a place with room for them; returns their end.
char* write_hex(char* at, ByteView bytes);

// The bytes of an even number of hexadecimal digits, in any case, or nothing.
[[nodiscard]] std::optional<std::vector<std::byte>> parse_hex(std::string_view digits);

}  // namespace coldtrace::core
