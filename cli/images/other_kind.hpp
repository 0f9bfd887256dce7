#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/file_kind.hpp"

namespace coldtrace::cli {

// The sentence for a file that is not `wanted` ("a PE image"): "it is an event trace (.etl), not a
// PE image; 'coldtrace trace' reads it".
std::string describe_other(const core::Result<core::FileKind>& kind, std::string_view wanted);

}  // namespace coldtrace::cli
