#pragma once

#include <string>

#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// The signature in the language of docs/languages/signatures.md: parse_signatures reads it back as
// the same, except for the line. `signature` is as the parser makes them.
[[nodiscard]] std::string to_text(const Signature& signature);

// Only its pattern, without line breaks.
[[nodiscard]] std::string to_text(const PatternSequence& sequence,
                                  const std::vector<CaptureField>& captures);

}  // namespace coldtrace::syscall_map
