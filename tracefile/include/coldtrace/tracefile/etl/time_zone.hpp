#pragma once

#include <optional>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::tracefile {

// A local time at which clocks change: once if it has a year, otherwise each year.
// Source: Windows SDK, minwinbase.h, SYSTEMTIME; timezoneapi.h, TIME_ZONE_INFORMATION.
struct ZoneDate {
  u16 year;   // 0: each year
  u16 month;  // 0: clocks never change
  u16 weekday;
  u16 day;  // of each year: the first to fourth such weekday of the month, 5: the last
  u16 hour, minute, second, milliseconds;
};

// TIME_ZONE_INFORMATION without its names; 172 bytes.
struct TimeZone {
  static constexpr std::size_t size_on_disk = 172;
  i32 bias;  // minutes: local time = UTC - bias - that of standard or daylight saving time
  ZoneDate standard_date;
  i32 standard_bias;
  ZoneDate daylight_date;
  i32 daylight_bias;
};

// The 172 bytes of TIME_ZONE_INFORMATION.
[[nodiscard]] TimeZone read_time_zone(core::Reader& in);

// What clocks of a time zone show at a time.
struct LocalTime {
  i64 offset;                           // minutes: local time = UTC + offset
  bool daylight;                        // daylight saving time
  std::optional<core::FileTime> until;  // when clocks change next
};

// The local time of the zone at `when`. Nothing if a date is invalid, or if one of them is yearly
// and the other is not, so that nothing tells which of the two times it is.
[[nodiscard]] std::optional<LocalTime> find_local_time(const TimeZone& zone, core::FileTime when);

}  // namespace coldtrace::tracefile
