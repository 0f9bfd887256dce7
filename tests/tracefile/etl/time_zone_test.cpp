#include "coldtrace/tracefile/etl/time_zone.hpp"

#include <array>
#include <limits>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace tracefile;

constexpr ZoneDate never{};

// Of each year.
constexpr ZoneDate yearly(u16 month, u16 day, u16 hour) {
  return {0, month, 0, day, hour, 0, 0, 0};
}

// UTC+1, as the registry of Windows has it.
constexpr TimeZone berlin{-60, yearly(10, 5, 3), 0, yearly(3, 5, 2), -60};

core::FileTime at(std::string_view text) {
  return core::parse_file_time(text).value();
}

std::string until(const std::optional<LocalTime>& local) {
  return local && local->until ? core::to_string(*local->until) : "";
}

}  // namespace

TEST_CASE("local time is that of the last change of clocks") {
  struct Row {
    const char* why;
    std::string_view when;
    i64 offset;
    std::string_view until;
  };
  const auto row = GENERATE(values<Row>({
      {"winter of the year's begin", "2026-01-01", 60, "2026-03-29T01:00:00.0000000Z"},
      {"the last tick before summer", "2026-03-29T00:59:59.9999999Z", 60,
       "2026-03-29T01:00:00.0000000Z"},
      {"the first of summer", "2026-03-29T01:00:00Z", 120, "2026-10-25T01:00:00.0000000Z"},
      {"the last of summer", "2026-10-25T00:59:59.9999999Z", 120, "2026-10-25T01:00:00.0000000Z"},
      {"the first of winter", "2026-10-25T01:00:00Z", 60, "2027-03-28T01:00:00.0000000Z"},
      {"the last of the year, whose next change is of the next", "2026-12-31T23:59:59Z", 60,
       "2027-03-28T01:00:00.0000000Z"},
  }));
  CAPTURE(row.why);
  const auto local = find_local_time(berlin, at(row.when));
  REQUIRE(local);
  CHECK(local->offset == row.offset);
  CHECK(local->daylight == (row.offset == 120));
  CHECK(until(local) == row.until);
}

TEST_CASE("a zone whose clocks never change has its bias alone") {
  const auto local = find_local_time({300, never, 7, never, -60}, at("2026-07-01"));
  REQUIRE(local);
  CHECK(local->offset == -300);
  CHECK_FALSE(local->daylight);
  CHECK_FALSE(local->until);
}

TEST_CASE("changes of clocks with a year come once") {
  TimeZone zone = berlin;
  zone.daylight_date = {2026, 3, 0, 29, 2, 0, 0, 0};
  zone.standard_date = {2026, 10, 0, 25, 3, 0, 0, 0};
  const auto before = find_local_time(zone, at("2020-07-01"));
  REQUIRE(before);
  CHECK(before->offset == 60);
  CHECK(until(before) == "2026-03-29T01:00:00.0000000Z");
  const auto between = find_local_time(zone, at("2026-07-01"));
  REQUIRE(between);
  CHECK(between->offset == 120);
  const auto after = find_local_time(zone, at("2030-07-01"));
  REQUIRE(after);
  CHECK(after->offset == 60);
  CHECK_FALSE(after->until);
}

TEST_CASE("what is not a zone has no local time") {
  struct Row {
    const char* why;
    TimeZone zone;
  };
  const auto with = [&](auto change) {
    TimeZone changed = berlin;
    change(changed);
    return changed;
  };
  const std::array rows{
      Row{"more than a day from UTC", with([](auto& z) { z.bias = 24 * 60 + 1; })},
      Row{"less than a day from UTC", with([](auto& z) { z.bias = -(24 * 60) - 1; })},
      Row{"daylight saving time of days", with([](auto& z) { z.daylight_bias = 24 * 60 + 1; })},
      Row{"the least bias", with([](auto& z) { z.bias = std::numeric_limits<i32>::min(); })},
      Row{"one date alone", with([](auto& z) { z.daylight_date = never; })},
      Row{"one date with a year", with([](auto& z) { z.daylight_date.year = 2026; })},
      Row{"a 13th month", with([](auto& z) { z.standard_date.month = 13; })},
      Row{"an eighth day of the week", with([](auto& z) { z.standard_date.weekday = 7; })},
      Row{"no such weekday of the month", with([](auto& z) { z.standard_date.day = 6; })},
      Row{"the zeroth weekday of the month", with([](auto& z) { z.standard_date.day = 0; })},
      Row{"hour 24", with([](auto& z) { z.daylight_date.hour = 24; })},
      Row{"minute 60", with([](auto& z) { z.daylight_date.minute = 60; })},
      Row{"second 60", with([](auto& z) { z.daylight_date.second = 60; })},
      Row{"1000 milliseconds", with([](auto& z) { z.daylight_date.milliseconds = 1000; })},
      Row{"a 30th of February", with([](auto& z) {
            z.daylight_date = {2026, 2, 0, 30, 2, 0, 0, 0};
            z.standard_date = {2026, 10, 0, 25, 3, 0, 0, 0};
          })},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    CHECK_FALSE(find_local_time(row.zone, at("2026-07-01")));
  }
}

TEST_CASE("local times end with the years of SYSTEMTIME") {
  CHECK_FALSE(find_local_time(berlin, at("1601-12-31")));
  CHECK(find_local_time(berlin, at("1602-01-01")));
  CHECK(find_local_time(berlin, at("+30826-12-31")));
  CHECK_FALSE(find_local_time(berlin, at("+30827-01-01")));
  CHECK_FALSE(find_local_time(berlin, {~u64{0}}));
}

}  // namespace coldtrace
