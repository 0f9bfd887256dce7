#include "coldtrace/tracefile/etl/time_zone.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace coldtrace::tracefile {
namespace {

using std::chrono::sys_days;

constexpr std::size_t name_size = 64;
constexpr i64 ticks_per_minute = 600'000'000;
constexpr i64 ticks_per_day = i64{24} * 60 * ticks_per_minute;
constexpr i64 days_from_1601_to_1970 = 134'774;
// The years of SYSTEMTIME. Source: minwinbase.h.
constexpr i64 first_year = 1601, last_year = 30'827;
constexpr i32 most_bias = 24 * 60;  // no zone is a day away

ZoneDate read_zone_date(core::Reader& in, core::Name field) {
  const auto number = [&] { return in.read_u16(field); };
  return {number(), number(), number(), number(), number(), number(), number(), number()};
}

// Local ticks since 1601 at which the clocks change in `year`, which the change is of.
std::optional<i64> local_ticks(const ZoneDate& change, i64 year) {
  using namespace std::chrono;
  const auto month = std::chrono::year{static_cast<int>(year)} / std::chrono::month{change.month};
  if (!month.ok() || change.hour > 23 || change.minute > 59 || change.second > 59 ||
      change.milliseconds > 999)
    return std::nullopt;
  sys_days day;
  if (change.year != 0) {
    const auto date = month / std::chrono::day{change.day};
    if (!date.ok()) return std::nullopt;
    day = date;
  } else {
    if (change.weekday > 6 || change.day < 1 || change.day > 5) return std::nullopt;
    const weekday weekday{change.weekday};
    day = change.day == 5 ? sys_days{month / weekday[last]} : sys_days{month / weekday[change.day]};
  }
  const i64 milliseconds =
      ((change.hour * i64{60} + change.minute) * 60 + change.second) * 1000 + change.milliseconds;
  return (day.time_since_epoch().count() + days_from_1601_to_1970) * ticks_per_day +
         milliseconds * 10'000;
}

struct Turn {
  i64 ticks;  // UTC, since 1601
  bool to_daylight;
};

// The changes of the years around `year`, in order; none where one of both dates is not a day.
std::vector<Turn> turns_around(const TimeZone& zone, i64 year) {
  std::vector<Turn> turns;
  // A change is at the local time that ends with it.
  const auto add = [&](const ZoneDate& change, i64 of, i32 bias_before, bool to_daylight) {
    const auto ticks = local_ticks(change, of);
    if (ticks)
      turns.push_back({*ticks + (i64{zone.bias} + bias_before) * ticks_per_minute, to_daylight});
    return ticks.has_value();
  };
  const auto add_all = [&](const ZoneDate& change, i32 bias_before, bool to_daylight) {
    if (change.year != 0) return add(change, change.year, bias_before, to_daylight);
    bool all = true;
    for (i64 of = year - 1; of <= year + 1; ++of) all &= add(change, of, bias_before, to_daylight);
    return all;
  };
  if (!add_all(zone.standard_date, zone.daylight_bias, false) ||
      !add_all(zone.daylight_date, zone.standard_bias, true))
    return {};
  std::stable_sort(turns.begin(), turns.end(),
                   [](const Turn& a, const Turn& b) { return a.ticks < b.ticks; });
  return turns;
}

i64 year_of(i64 ticks) {
  const std::chrono::days days{ticks / ticks_per_day - days_from_1601_to_1970};
  return int{std::chrono::year_month_day{sys_days{days}}.year()};
}

bool is_believable(i32 bias) {
  return bias >= -most_bias && bias <= most_bias;
}

}  // namespace

TimeZone read_time_zone(core::Reader& in) {
  return {.bias = in.read_i32("TimeZone.Bias"),
          .standard_date = (in.skip(name_size, "TimeZone.StandardName"),
                            read_zone_date(in, "TimeZone.StandardDate")),
          .standard_bias = in.read_i32("TimeZone.StandardBias"),
          .daylight_date = (in.skip(name_size, "TimeZone.DaylightName"),
                            read_zone_date(in, "TimeZone.DaylightDate")),
          .daylight_bias = in.read_i32("TimeZone.DaylightBias")};
}

std::optional<LocalTime> find_local_time(const TimeZone& zone, core::FileTime when) {
  if (!is_believable(zone.bias)) return std::nullopt;
  // Its own bias counts only where a date goes with it. Source: TIME_ZONE_INFORMATION.
  if (zone.standard_date.month == 0 && zone.daylight_date.month == 0)
    return LocalTime{-i64{zone.bias}, false, std::nullopt};
  if (!is_believable(zone.standard_bias) || !is_believable(zone.daylight_bias)) return std::nullopt;
  if ((zone.standard_date.year == 0) != (zone.daylight_date.year == 0)) return std::nullopt;
  const auto ticks = static_cast<i64>(when.ticks);
  if (ticks < 0) return std::nullopt;
  const auto year = year_of(ticks);
  if (year <= first_year || year >= last_year) return std::nullopt;
  const auto turns = turns_around(zone, year);
  if (turns.empty()) return std::nullopt;
  const auto next = std::find_if(turns.begin(), turns.end(),
                                 [&](const Turn& turn) { return turn.ticks > ticks; });
  // Before the first of two changes that come once it is what that one ends.
  const bool daylight = next == turns.begin() ? !next->to_daylight : std::prev(next)->to_daylight;
  const auto until = next == turns.end()
                         ? std::nullopt
                         : std::optional{core::FileTime{static_cast<u64>(next->ticks)}};
  return LocalTime{-(i64{zone.bias} + (daylight ? zone.daylight_bias : zone.standard_bias)),
                   daylight, until};
}

}  // namespace coldtrace::tracefile
