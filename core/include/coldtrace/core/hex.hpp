#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Lower-case hexadecimal digits, two per byte, no separators.
[[nodiscard]] std::string to_hex(ByteView bytes);
void append_hex(std::string& text, ByteView bytes);

// Writes the same to a buffer with room for it; returns the end of the digits.
char* write_hex(char* at, ByteView bytes);

// The bytes of an even number of hexadecimal digits, in either case, or nothing.
[[nodiscard]] std::optional<std::vector<std::byte>> parse_hex(std::string_view digits);

}  // namespace coldtrace::core
