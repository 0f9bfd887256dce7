#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/events/clock.hpp"

namespace coldtrace::trace_analysis {

// "1.2345678": units of 100 ns as seconds.
[[nodiscard]] std::string seconds_text(i64 units);
// The same with a suitable unit: "17.3 us", "12.35 ms", "1.235 s".
[[nodiscard]] std::string duration_text(i64 units);

// Ticks of a trace as people and programs read them.
class TraceTimes {
 public:
  // The clock must outlive it. `first` is the first event of the trace.
  TraceTimes(core::Borrowed<tracefile::Clock> clock, std::optional<i64> first)
      : clock_{clock.get()}, first_{first.value_or(0)} {}

  // "2024-02-29T12:34:56.1234567Z"; nothing if the trace has lost its clock.
  [[nodiscard]] std::optional<std::string> utc(std::optional<i64> time) const;
  // "+1.234567": seconds since the first event.
  [[nodiscard]] std::string since_start(i64 time) const;
  // In units of 100 ns.
  [[nodiscard]] i64 duration(i64 ticks) const { return clock_.to_duration(ticks); }
  // "1.2345678"
  [[nodiscard]] std::string seconds(i64 ticks) const { return seconds_text(duration(ticks)); }
  // "1.235 s"
  [[nodiscard]] std::string text(i64 ticks) const { return duration_text(duration(ticks)); }

 private:
  const tracefile::Clock& clock_;
  i64 first_;
};

}  // namespace coldtrace::trace_analysis
