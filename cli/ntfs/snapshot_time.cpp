#include "cli/ntfs/snapshot_time.hpp"

#include <charconv>
#include <string>

namespace coldtrace::cli {

// The calendar repeats after 400 years.
std::optional<core::FileTime> parse_snapshot_time(std::string_view text) {
  if (!text.starts_with('+')) return core::parse_file_time(text);
  constexpr unsigned cycle = 400;
  constexpr u64 ticks_of_cycle = u64{146'097} * 86'400 * 10'000'000;
  const auto dash = text.find('-');
  unsigned year = 0;
  const auto digits = text.substr(1, dash - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), year);
  if (dash == std::string_view::npos || error != std::errc{} ||
      end != digits.data() + digits.size() || digits.size() != 5)
    return std::nullopt;
  const unsigned cycles = (year - 2000) / cycle;
  const auto time =
      core::parse_file_time(std::to_string(year - cycles * cycle).append(text.substr(dash)));
  if (!time || cycles > (~u64{0} - time->ticks) / ticks_of_cycle) return std::nullopt;
  return core::FileTime{time->ticks + cycles * ticks_of_cycle};
}

}  // namespace coldtrace::cli
