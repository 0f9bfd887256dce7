#include "coldtrace/trace_analysis/records/trace_times.hpp"

#include <fmt/format.h>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

std::string seconds_text(i64 units) {
  return fmt::format("{}.{:07}", units / 10'000'000, units % 10'000'000);
}

// The unit is that of what is shown: 999.996 ms are 1.000 s.
std::string duration_text(i64 units) {
  constexpr i64 microsecond = 10, millisecond = 1'000 * microsecond, second = 1'000 * millisecond;
  const auto in = [&](i64 unit) { return static_cast<double>(units) / static_cast<double>(unit); };
  if (units == 0) return "0 s";
  if (units < millisecond) return fmt::format("{:.1f} us", in(microsecond));
  if (units < second - millisecond / 200) return fmt::format("{:.2f} ms", in(millisecond));
  auto text = fmt::format("{:.3f} s", in(second));
  for (auto at = text.find('.'); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::optional<std::string> TraceTimes::utc(std::optional<i64> time) const {
  const auto utc = time ? clock_.find_file_time(*time) : std::nullopt;
  return utc ? std::optional{core::to_string(*utc)} : std::nullopt;
}

std::string TraceTimes::since_start(i64 time) const {
  const bool before = time < first_;
  const auto ticks = before ? ticks_between(time, first_) : ticks_between(first_, time);
  return (before ? '-' : '+') + seconds(ticks);
}

}  // namespace coldtrace::trace_analysis
