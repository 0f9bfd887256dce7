#include "coldtrace/core/file_time.hpp"

#include <charconv>
#include <chrono>
#include <cstring>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "coldtrace/core/decimal.hpp"

namespace coldtrace::core {
namespace {

constexpr u64 ticks_per_second = 10'000'000;
constexpr u64 seconds_per_day = 86'400;

struct Date {
  u64 year;
  unsigned month;
  unsigned day;
};

// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days;
// counted from 1601-01-01, which starts a 400-year era after a shift of 306 days.
Date date_of(u64 days_since_1601) {
  const u64 shifted = days_since_1601 + 306;  // since 1600-03-01
  const u64 era = shifted / 146'097;
  const u64 day_of_era = shifted % 146'097;
  const u64 year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const u64 day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const u64 month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<unsigned>(day_of_year - (153 * month + 2) / 5 + 1);
  const u64 year = 1600 + era * 400 + year_of_era + (month >= 10 ? 1 : 0);
  return {year, static_cast<unsigned>(month < 10 ? month + 3 : month - 9), day};
}

char* put_digits(char* to, u64 value, int count) {
  for (int i = count - 1; i >= 0; --i) {
    to[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  return to + count;
}

// Exactly `count` digits from the front.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t count) {
  unsigned number = 0;
  if (text.size() < count) return std::nullopt;
  const auto result = std::from_chars(text.data(), text.data() + count, number);
  if (result.ec != std::errc{} || result.ptr != text.data() + count) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// The time of the day in ticks, or nothing.
std::optional<u64> parse_clock(std::string_view text) {
  const auto hour = take_digits(text, 2);
  const bool colon = take(text, ':');
  const auto minute = take_digits(text, 2);
  if (!hour || !colon || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  u64 ticks = (u64{*hour} * 60 + *minute) * 60 * 10'000'000;
  if (take(text, ':')) {
    const auto second = take_digits(text, 2);
    if (!second || *second > 59) return std::nullopt;
    ticks += u64{*second} * 10'000'000;
    if (take(text, '.')) {
      u64 unit = 10'000'000;
      while (unit > 1 && !text.empty() && text.front() != 'Z') {
        const auto digit = take_digits(text, 1);
        if (!digit) return std::nullopt;
        unit /= 10;
        ticks += unit * *digit;
      }
    }
  }
  take(text, 'Z');
  return text.empty() ? std::optional{ticks} : std::nullopt;
}

}  // namespace

void FileTimeFormatter::write_day(u64 day) {
  const auto date = date_of(day);
  char* to = text_.data();
  if (date.year > 9999) {
    to = fmt::format_to(to, FMT_COMPILE("+{}"), date.year);
  } else {
    to = put_digits(to, date.year, 4);
  }
  *to++ = '-';
  to = put_digits(to, date.month, 2);
  *to++ = '-';
  to = put_digits(to, date.day, 2);
  *to++ = 'T';
  date_size_ = static_cast<std::size_t>(to - text_.data());
  day_ = day;
}

std::string_view FileTimeFormatter::format(FileTime time) {
  const u64 seconds = time.ticks / ticks_per_second;
  const u64 day = seconds / seconds_per_day;
  if (day != day_) write_day(day);
  const auto second = static_cast<u32>(seconds % seconds_per_day);
  // As one number, "12034056", whose two zeros become colons.
  constexpr u64 zeros = 0x3030'3030'3030'3030;
  constexpr u64 colons = 0x0000'0a00'000a'0000;
  const u64 clock =
      eight_digits(second / 3600 * 1'000'000 + second / 60 % 60 * 1'000 + second % 60) + zeros +
      colons;
  const u64 fraction = eight_digits(static_cast<u32>(time.ticks % ticks_per_second)) + zeros;
  char* to = text_.data() + date_size_;
  std::memcpy(to, &clock, sizeof(clock));
  to += sizeof(clock);
  std::memcpy(to, &fraction, sizeof(fraction));
  *to = '.';  // in place of its first digit, a zero
  to += sizeof(fraction);
  *to++ = 'Z';
  return {text_.data(), static_cast<std::size_t>(to - text_.data())};
}

std::string to_string(FileTime time) {
  FileTimeFormatter formatter;
  return std::string{formatter.format(time)};
}

std::optional<FileTime> parse_file_time(std::string_view text) {
  using namespace std::chrono;
  // The calendar repeats after 400 years, and std::chrono ends at 32767.
  constexpr unsigned cycle = 400;
  constexpr u64 days_of_cycle = 146'097;
  const bool late = take(text, '+');
  const auto year_number = take_digits(text, late ? 5 : 4);
  const bool dash = take(text, '-');
  const auto month_number = take_digits(text, 2);
  const bool second_dash = take(text, '-');
  const auto day_number = take_digits(text, 2);
  if (!year_number || !dash || !month_number || !second_dash || !day_number) return std::nullopt;
  if (late && *year_number <= 9999) return std::nullopt;
  const unsigned cycles = late ? (*year_number - 2000) / cycle : 0;
  const year_month_day date{year{static_cast<int>(*year_number - cycles * cycle)},
                            month{*month_number}, day{*day_number}};
  constexpr sys_days epoch{year{1601} / 1 / 1};
  if (!date.ok() || sys_days{date} < epoch) return std::nullopt;
  const auto days = static_cast<u64>((sys_days{date} - epoch).count()) + cycles * days_of_cycle;
  constexpr u64 ticks_per_day = seconds_per_day * ticks_per_second;
  if (days > ~u64{0} / ticks_per_day) return std::nullopt;
  u64 ticks = days * ticks_per_day;
  if (take(text, 'T')) {
    const auto clock = parse_clock(text);
    if (!clock || *clock > ~u64{0} - ticks) return std::nullopt;
    ticks += *clock;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return FileTime{ticks};
}

}  // namespace coldtrace::core
