#pragma once

#include <string_view>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

namespace coldtrace::syscall_map {

// Reads one file of a hook profile (docs/languages/hook-profiles.md); the first error ends it. Does
// not check whether its includes can be read and its groups are known.
core::Expected<ProfileFile, core::TextError> parse_profile(std::string_view text);

}  // namespace coldtrace::syscall_map
