#include "coldtrace/tracefile/events/clock.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace coldtrace::tracefile {
namespace {

__extension__ typedef __int128 i128;

}  // namespace

std::string_view to_string(ClockType type) {
  switch (type) {
    case ClockType::raw:
      return "raw";
    case ClockType::performance_counter:
      return "performance_counter";
    case ClockType::system_time:
      return "system_time";
    case ClockType::cpu_cycles:
      return "cpu_cycles";
  }
  return "unknown";
}

Clock::Clock(ClockType type, core::FileTime start, i64 first, Rate rate)
    : known_{true}, type_{type}, start_{start.ticks}, first_{first}, rate_{rate} {
  // The frequency is a LARGE_INTEGER.
  constexpr u64 most = std::numeric_limits<i64>::max();
  has_rate_ = type_ == ClockType::system_time || (rate_.ticks > 0 && rate_.ticks <= most);
  if (!has_rate_ || type_ == ClockType::system_time) rate_ = {1, 1};
}

i64 Clock::to_duration(i64 ticks) const {
  if (rate_.ticks == rate_.per) return ticks;
  // 64 bits do for the usual: three days at 3 MHz.
  constexpr i64 safe = std::numeric_limits<i64>::max() / 10'000'000;
  if (ticks < safe && ticks > -safe && rate_.per <= 10'000'000 && rate_.ticks <= 1U << 31)
    return ticks * static_cast<i64>(rate_.per) / static_cast<i64>(rate_.ticks);
  return static_cast<i64>(i128{ticks} * rate_.per / rate_.ticks);
}

i64 Clock::to_ticks(u32 units) const {
  constexpr i128 most = std::numeric_limits<i64>::max();
  return static_cast<i64>(std::min(i128{units} * rate_.ticks / std::max<u64>(rate_.per, 1), most));
}

core::FileTime Clock::to_file_time(i64 timestamp) const {
  if (type_ == ClockType::system_time) return {static_cast<u64>(timestamp)};
  const u64 since = static_cast<u64>(timestamp) - static_cast<u64>(first_);
  return {start_ + static_cast<u64>(to_duration(static_cast<i64>(since)))};
}

std::optional<core::FileTime> Clock::find_file_time(i64 timestamp) const {
  if (!known_) return std::nullopt;
  if (type_ == ClockType::system_time) {
    if (timestamp < 0) return std::nullopt;
    return core::FileTime{static_cast<u64>(timestamp)};
  }
  constexpr u64 most = std::numeric_limits<i64>::max();
  i64 since = 0, time = 0;
  if (start_ > most || __builtin_sub_overflow(timestamp, first_, &since) ||
      __builtin_add_overflow(static_cast<i64>(start_), to_duration(since), &time) || time < 0)
    return std::nullopt;
  return core::FileTime{static_cast<u64>(time)};
}

i64 Clock::to_other(i64 timestamp, const Clock& other) const {
  // FILETIMEs count from their own start.
  const auto origin = [](const Clock& clock) {
    return clock.type_ == ClockType::system_time ? std::pair{u64{0}, i64{0}}
                                                 : std::pair{clock.start_, clock.first_};
  };
  const auto [start, first] = origin(*this);
  const auto [other_start, other_first] = origin(other);
  const auto since = static_cast<i64>(static_cast<u64>(timestamp) - static_cast<u64>(first));
  const auto later = static_cast<i64>(start - other_start);  // 100 ns
  const auto ticks = [&other](i64 units) {
    return static_cast<u64>(i128{units} * other.rate_.ticks / other.rate_.per);
  };
  const bool same_rate = i128{rate_.ticks} * other.rate_.per == i128{other.rate_.ticks} * rate_.per;
  const auto passed = same_rate ? static_cast<u64>(since) : ticks(to_duration(since));
  return static_cast<i64>(static_cast<u64>(other_first) + ticks(later) + passed);
}

std::optional<i64> Clock::first_timestamp_at(core::FileTime time) const {
  if (type_ == ClockType::system_time) {
    if (time.ticks > static_cast<u64>(std::numeric_limits<i64>::max())) return std::nullopt;
    return static_cast<i64>(time.ticks);
  }
  const auto reached = [&](i64 timestamp) {
    return i128{start_} + (i128{timestamp} - first_) * rate_.per / rate_.ticks >= time.ticks;
  };
  i64 low = std::numeric_limits<i64>::min();
  i64 high = std::numeric_limits<i64>::max();
  while (low < high) {
    const auto middle = static_cast<i64>((i128{low} + high) >> 1);  // rounds down
    if (reached(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return reached(low) ? std::optional{low} : std::nullopt;
}

std::optional<i64> Clock::last_timestamp_at(core::FileTime time) const {
  const auto next = time.ticks == ~u64{0} ? std::nullopt : first_timestamp_at({time.ticks + 1});
  if (!next) return std::numeric_limits<i64>::max();
  if (*next == std::numeric_limits<i64>::min()) return std::nullopt;
  return *next - 1;
}

}  // namespace coldtrace::tracefile
