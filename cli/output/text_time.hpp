#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {

// The time zone of times in text: UTC, unless one of these is called before a run. Throws Failure
// if TZ names no zone.
void use_local_time();
// "+05:30", "-08:00", "02:00"; false if it is not one.
bool use_utc_offset(std::string_view text);

// "UTC", "UTC+05:30" or "local".
std::string text_zone();

// "2024-02-29T12:34:56" in that zone.
std::string text_time(core::FileTime time);
// "2024-02-29T12:34:56.1234567", followed by 'Z' in UTC.
std::string exact_text_time(core::FileTime time);
// The same followed by the zone, "2024-02-29T18:04:56.1234567 (UTC+05:30)", for text without a
// heading that names it.
std::string zoned_text_time(core::FileTime time);
// "2024-02-29T12:34:56.123456+00:00", in UTC whatever the zone: plaso's times have six digits.
std::string plaso_time(core::FileTime time);

}  // namespace coldtrace::cli
