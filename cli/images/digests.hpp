#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::cli {

// The digest of these pieces one behind the other, in lower-case hexadecimal; nothing where the
// algorithm is none of md5, sha1, sha256, sha384 and sha512.
std::optional<std::string> compute_digest(std::string_view algorithm,
                                          std::span<const core::ByteView> pieces);

}  // namespace coldtrace::cli
