#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// Reads a whole signature file (docs/languages/signatures.md); the first error ends it.
core::Expected<std::vector<Signature>, core::TextError> parse_signatures(std::string_view text);

}  // namespace coldtrace::syscall_map
