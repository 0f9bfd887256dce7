#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::tracefile {

// What a timestamp of the trace counts. Source: TRACE_LOGFILE_HEADER.ReservedFlags.
enum class ClockType : u8 {
  raw = 0,  // as performance_counter
  performance_counter = 1,
  system_time = 2,  // FILETIME
  cpu_cycles = 3,
};

[[nodiscard]] std::string_view to_string(ClockType type);

// Turns timestamps of a trace into UTC. Integer division towards zero, as Windows does it: 2,041
// of 2,041 events of a file equal the export that Windows made of it.
class Clock {
 public:
  // Timestamp `first` happened at `start`. `ticks` clock ticks pass in `per` units of 100 ns.
  struct Rate {
    u64 ticks;
    u64 per;
  };
  Clock(ClockType type, core::FileTime start, i64 first, Rate rate);
  // The clock of a session whose header is lost: timestamps have an order but no time.
  Clock() = default;

  [[nodiscard]] bool known() const { return known_; }

  [[nodiscard]] ClockType type() const { return type_; }
  // Cycle counters run at the processor's nominal speed at best.
  [[nodiscard]] bool approximate() const { return type_ == ClockType::cpu_cycles || !has_rate_; }
  // Whether the trace says how fast the clock runs; otherwise a tick is taken as 100 ns.
  [[nodiscard]] bool has_rate() const { return has_rate_; }

  // Wraps if no FILETIME is that early or late, which find_file_time() detects.
  [[nodiscard]] core::FileTime to_file_time(i64 timestamp) const;
  // Nothing if the clock is not known, or if no FILETIME can express it: before 1601, or more than
  // 2^63 - 1 units after.
  [[nodiscard]] std::optional<core::FileTime> find_file_time(i64 timestamp) const;

  // The length of `ticks` in units of 100 ns.
  [[nodiscard]] i64 to_duration(i64 ticks) const;
  // How many ticks pass in this many units of 100 ns.
  [[nodiscard]] i64 to_ticks(u32 units) const;

  // What `other` showed when this clock showed `timestamp`; both are known.
  [[nodiscard]] i64 to_other(i64 timestamp, const Clock& other) const;

  // The least timestamp that is not before `time`; nothing if all are.
  [[nodiscard]] std::optional<i64> first_timestamp_at(core::FileTime time) const;
  // The greatest timestamp that is not after `time`; nothing if all are.
  [[nodiscard]] std::optional<i64> last_timestamp_at(core::FileTime time) const;

 private:
  bool known_ = false;
  ClockType type_ = ClockType::raw;
  u64 start_ = 0;
  i64 first_ = 0;
  Rate rate_{1, 1};
  bool has_rate_ = true;
};

}  // namespace coldtrace::tracefile
