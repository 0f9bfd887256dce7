#pragma once

#include <string_view>

#include "core/reader.hpp"

namespace coldtrace::pe {

// What a file is by its first bytes, to be read behind "it is ": "an ELF file, not a PE image".
// For files that Image::open refuses; empty when it has the signatures of a PE image.
std::string_view recognize_format(core::ByteView file);

}  // namespace coldtrace::pe
