#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/pe/version_info.hpp"

namespace coldtrace::syscall_map {

// Parses "10.0.19041.1", the form of file versions in identities; nothing for any other text.
std::optional<pe::VersionNumber> to_version_number(std::string_view text);

}  // namespace coldtrace::syscall_map
