#include "coldtrace/trace_analysis/records/counter_ticks.hpp"

#include <algorithm>
#include <limits>

#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::trace_analysis {
namespace {

constexpr u64 file_time_frequency = 10'000'000;

u64 frequency_of(const tracefile::LogfileHeader& header, tracefile::ClockType type) {
  using tracefile::ClockType;
  if (type == ClockType::system_time) return file_time_frequency;
  if (type == ClockType::cpu_cycles) return u64{header.cpu_speed} * 1'000'000;
  return header.performance_frequency;
}

}  // namespace

CounterTicks::CounterTicks(const tracefile::AnyTrace& trace) {
  if (trace.etl() == nullptr) {
    millisecond_ = static_cast<i64>(file_time_frequency / 1'000);
    return;
  }
  const auto& header = trace.etl()->header();
  const auto type = trace.clock().type();
  const auto frequency = frequency_of(header, type);
  millisecond_ = static_cast<i64>(std::min<u64>(frequency / 1'000, u64{1} << 40U));
  if (type == tracefile::ClockType::raw || type == tracefile::ClockType::performance_counter)
    return;
  ticks_ = frequency;
  per_ = header.performance_frequency;
}

std::optional<i64> CounterTicks::to_ticks(u64 count) const {
  u64 ticks = 0;
  if (per_ == 0 || ticks_ == 0) return std::nullopt;
  if (ticks_ == per_)
    ticks = count;
  else if (__builtin_mul_overflow(count, ticks_, &ticks))
    return std::nullopt;
  else
    ticks /= per_;
  if (ticks > static_cast<u64>(std::numeric_limits<i64>::max())) return std::nullopt;
  return static_cast<i64>(ticks);
}

}  // namespace coldtrace::trace_analysis
