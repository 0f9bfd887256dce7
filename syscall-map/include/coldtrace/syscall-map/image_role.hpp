#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// What an image is in a build of Windows.
enum class ImageRole : u8 { kernel, ntdll, win32u, win32k, win32kbase, win32kfull };

[[nodiscard]] std::string_view to_string(ImageRole role);

}  // namespace coldtrace::syscall_map
