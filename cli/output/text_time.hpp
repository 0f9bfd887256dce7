#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {

// The time zone in text: UTC, unless one of these is called before a run. Throws Failure if TZ does
// not name a zone.
void use_local_time();
// "+05:30", "-08:00", "02:00"; false for anything else.
bool use_utc_offset(std::string_view text);

// "UTC", "UTC+05:30" or "local".
std::string text_zone();

// "2024-02-29T12:34:56" in that zone.
std::string text_time(core::FileTime time);
// "2024-02-29T12:34:56.1234567", followed by 'Z' in UTC.
std::string exact_text_time(core::FileTime time);
// "2024-02-29T12:34:56.123456+00:00", in UTC whatever the zone: plaso's times have six digits.
std::string plaso_time(core::FileTime time);

}  // namespace coldtrace::cli
