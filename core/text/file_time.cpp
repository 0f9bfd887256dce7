#include "coldtrace/core/file_time.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

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
  const u64 second = seconds % seconds_per_day;
  char* to = text_.data() + date_size_;
  to = put_digits(to, second / 3600, 2);
  *to++ = ':';
  to = put_digits(to, second / 60 % 60, 2);
  *to++ = ':';
  to = put_digits(to, second % 60, 2);
  *to++ = '.';
  to = put_digits(to, time.ticks % ticks_per_second, 7);
  *to++ = 'Z';
  return {text_.data(), static_cast<std::size_t>(to - text_.data())};
}

std::string to_string(FileTime time) {
  FileTimeFormatter formatter;
  return std::string{formatter.format(time)};
}

}  // namespace coldtrace::core
