#pragma once

#include <array>
#include <charconv>
#include <cstring>
#include <string>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {

// Fields of the lines read by The Sleuth Kit's mactime.
// Source: sleuthkit.org wiki, "Body file".

// Escapes what was appended after `start`, so that a name ends neither its field nor its line, and
// does not move a terminal's cursor.
void escape_body_text(std::string& text, std::size_t start);

// Seconds since 1970 with seven decimals; 0 for a time that is not set. Keeps the texts of the last
// times: most times of a file are equal.
class UnixTimeFormatter {
 public:
  static constexpr std::size_t longest = 32;

  // Writes to `at`, which must have room for the longest; returns the end.
  char* format(core::FileTime time, char* at) {
    for (const auto& known : known_)
      if (known.ticks == time.ticks) return copy(known, at);
    auto& next = known_[next_++ % known_.size()];
    next.ticks = time.ticks;
    next.size = write(time, next.text.data());
    return copy(next, at);
  }

 private:
  static constexpr u64 ticks_per_second = 10'000'000;
  static constexpr i64 seconds_1601_to_1970 = 11'644'473'600;
  struct Text {
    u64 ticks = 0;
    std::size_t size = 1;
    std::array<char, longest> text{'0'};
  };

  static char* copy(const Text& text, char* at) {
    std::memcpy(at, text.text.data(), longest);  // a constant size: bench/compare-ntfs
    return at + text.size;
  }

  static std::size_t write(core::FileTime time, char* const start) {
    if (time.ticks == 0) {
      *start = '0';
      return 1;
    }
    const auto seconds = static_cast<i64>(time.ticks / ticks_per_second) - seconds_1601_to_1970;
    const u64 fraction = time.ticks % ticks_per_second;
    // Before 1970, the fraction is counted towards zero.
    const bool negative = seconds < 0;
    const i64 whole = negative && fraction > 0 ? seconds + 1 : seconds;
    char* at = start;
    if (negative) *at++ = '-';
    at = std::to_chars(at, start + longest, negative ? -whole : whole).ptr;
    auto left = static_cast<u32>(negative && fraction > 0 ? ticks_per_second - fraction : fraction);
    *at = '.';
    for (int i = 7; i > 0; --i, left /= 10) at[i] = static_cast<char>('0' + left % 10);
    return static_cast<std::size_t>(at + 8 - start);
  }

  std::array<Text, 4> known_{};
  std::size_t next_ = 0;
};

}  // namespace coldtrace::cli
