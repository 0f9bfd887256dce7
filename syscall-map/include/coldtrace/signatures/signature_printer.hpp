#pragma once

#include <string>

#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// The signature in the language of docs/languages/signatures.md: what parse_signatures reads from
// it is the same but for the line. `signature` is as the parser makes them.
[[nodiscard]] std::string to_text(const Signature& signature);

// Its pattern alone, without line breaks.
[[nodiscard]] std::string to_text(const PatternSequence& sequence,
                                  const std::vector<CaptureField>& captures);

}  // namespace coldtrace::syscall_map
