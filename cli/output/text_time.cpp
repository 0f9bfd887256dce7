#include "cli/output/text_time.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

constexpr u64 ticks_per_second = 10'000'000;
constexpr i64 unix_epoch = 11'644'473'600;  // seconds since 1601

struct TextZone {
  bool local = false;
  i64 minutes = 0;  // east of UTC
};

TextZone& zone() {
  static TextZone chosen;
  return chosen;
}

bool is_utc() {
  return !zone().local && zone().minutes == 0;
}

i64 seconds_east(core::FileTime time) {
  if (!zone().local) return zone().minutes * 60;
  const auto seconds = static_cast<std::time_t>(time.ticks / ticks_per_second) - unix_epoch;
  std::tm parts{};
  return ::localtime_r(&seconds, &parts) != nullptr ? parts.tm_gmtoff : 0;
}

// Whether the C library takes it for one, which takes what it does not know for UTC: a file of the
// zone database, or POSIX's names with offsets ("CET-1CEST", "<+05>-5").
bool is_zone(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  if (name.empty()) return true;
  const char* const folder = std::getenv("TZDIR");
  const std::filesystem::path zones{folder != nullptr ? folder : "/usr/share/zoneinfo"};
  std::array<char, 4> magic{};
  if (std::ifstream{zones / name}.read(magic.data(), magic.size()) &&
      std::string_view{magic.data(), magic.size()} == "TZif")
    return true;
  const auto offset = name.find_first_of("0123456789");
  const auto is_letter = [](char each) { return std::isalpha(static_cast<unsigned char>(each)); };
  if (name.starts_with('<')) return offset != name.npos && name.find('>') != name.npos;
  return offset != name.npos && offset >= 3 && std::ranges::all_of(name.substr(0, 3), is_letter) &&
         name.find('/') > offset;
}

// In the zone that was chosen, which may be the last day before 1601, or behind the last time that
// there is, on the day of that.
std::string shifted(core::FileTime time) {
  constexpr u64 day = u64{86'400} * ticks_per_second;
  const i64 seconds = seconds_east(time);
  const u64 moved = time.ticks + static_cast<u64>(seconds) * ticks_per_second;
  const bool is_over = seconds < 0 ? moved > time.ticks : moved < time.ticks;
  if (!is_over) return core::to_string(core::FileTime{moved});
  const bool is_before = seconds < 0;
  const auto date = is_before ? std::string{"1600-12-31T"} : core::to_string(time);
  const u64 in_day = is_before ? moved + day : time.ticks % day + moved - time.ticks;
  return date.substr(0, date.find('T') + 1) + core::to_string(core::FileTime{in_day}).substr(11);
}

}  // namespace

void use_local_time() {
  ::tzset();  // reads the zone's file, before the sandbox
  if (const char* const name = std::getenv("TZ"); name != nullptr && !is_zone(name))
    throw Failure{
        fmt::format("--local: TZ names a time zone that is not known here: {}", printable(name))};
  zone() = {.local = true};
}

bool use_utc_offset(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() != 5 || text[2] != ':') return false;
  for (const std::size_t at : std::array<std::size_t, 4>{0, 1, 3, 4})
    if (text[at] < '0' || text[at] > '9') return false;
  const auto number = [&](std::size_t at) {
    return i64{text[at] - '0'} * 10 + (text[at + 1] - '0');
  };
  const i64 minutes = number(0) * 60 + number(3);
  constexpr i64 most = i64{14} * 60;
  if (number(3) > 59 || minutes > most) return false;
  zone() = {.minutes = negative ? -minutes : minutes};
  return true;
}

std::string text_zone() {
  if (zone().local) return "local";
  if (is_utc()) return "UTC";
  const bool negative = zone().minutes < 0;
  const i64 minutes = negative ? -zone().minutes : zone().minutes;
  return fmt::format("UTC{}{:02}:{:02}", negative ? '-' : '+', minutes / 60, minutes % 60);
}

std::string text_time(core::FileTime time) {
  auto text = shifted(time);
  text.resize(text.find('.'));
  return text;
}

std::string exact_text_time(core::FileTime time) {
  auto text = shifted(time);
  if (!is_utc()) text.pop_back();
  return text;
}

std::string zoned_text_time(core::FileTime time) {
  return exact_text_time(time) + (is_utc() ? "" : fmt::format(" ({})", text_zone()));
}

std::string plaso_time(core::FileTime time) {
  auto text = core::to_string(time);
  text.resize(text.size() - 2);
  return text + "+00:00";
}

}  // namespace coldtrace::cli
