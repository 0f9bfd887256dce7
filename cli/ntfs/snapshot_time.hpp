#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {

// A time as lines of a snapshot have it, also of years with a sign and five digits.
std::optional<core::FileTime> parse_snapshot_time(std::string_view text);

}  // namespace coldtrace::cli
