#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// 100 ns ticks since 1601-01-01 00:00 UTC, as FILETIME counts them. 0 means "not set".
// Source: Windows SDK, FILETIME; values above 2^63-1 exist on damaged volumes and stay printable.
struct FileTime {
  u64 ticks = 0;
  friend auto operator<=>(FileTime, FileTime) = default;
};

// Writes times as "2024-02-29T12:34:56.1234567Z". Years beyond 9999 have the sign and digits of
// ISO 8601's expanded form: "+30828-09-14T02:48:05.4775807Z". Keeps the last day it wrote, so that
// times of the same day cost few divisions. One object per thread.
class FileTimeFormatter {
 public:
  // Valid until the next call.
  std::string_view format(FileTime time);

 private:
  void write_day(u64 day);

  std::array<char, 40> text_{};
  std::size_t date_size_ = 0;  // characters up to and including 'T'
  u64 day_ = ~u64{0};
};

[[nodiscard]] std::string to_string(FileTime time);

// Reads "2024-02-29T12:34:56.1234567Z", also with fewer or no decimals, or a date alone.
[[nodiscard]] std::optional<FileTime> parse_file_time(std::string_view text);

// The FILETIME of a number of seconds since 1970-01-01 00:00 UTC.
[[nodiscard]] constexpr FileTime file_time_from_unix(i64 seconds) {
  return {static_cast<u64>(seconds + 11'644'473'600) * 10'000'000};
}

}  // namespace coldtrace::core
