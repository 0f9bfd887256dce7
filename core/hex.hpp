#pragma once

#include <string>

#include "core/reader.hpp"

namespace coldtrace::core {

// Lower-case hexadecimal digits, two a byte, no separators.
std::string to_hex(ByteView bytes);
void append_hex(std::string& text, ByteView bytes);

}  // namespace coldtrace::core
