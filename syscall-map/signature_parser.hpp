#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "syscall-map/signature.hpp"

namespace coldtrace::syscall_map {

// What is wrong with a signature file, and where: lines and columns count from 1, columns in bytes.
struct SignatureError {
  u32 line;
  u32 column;
  std::string message;
};

// "3:14: expected ';'"
std::string to_string(const SignatureError& error);

// Reads a whole signature file (docs/signatures.md); the first error ends it.
tl::expected<std::vector<Signature>, SignatureError> parse_signatures(std::string_view text);

}  // namespace coldtrace::syscall_map
