#pragma once

#include <string>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {

// "2024-02-29T12:34:56.123456+00:00": plaso's times have six digits.
std::string plaso_time(core::FileTime time);

}  // namespace coldtrace::cli
