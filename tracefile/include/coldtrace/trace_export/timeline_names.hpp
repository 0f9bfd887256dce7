#pragma once

#include <optional>
#include <string>

#include "coldtrace/trace_analysis/records/population.hpp"
#include "coldtrace/trace_analysis/records/records.hpp"

namespace coldtrace::trace_export {

// How an export names things, and when they happened. All texts are valid UTF-8 without control
// characters.
class TimelineNames {
 public:
  virtual ~TimelineNames() = default;

  [[nodiscard]] virtual const trace_analysis::Population& population() const = 0;
  // "a.exe", "main"; may be empty.
  [[nodiscard]] virtual std::string process_name(trace_analysis::Index process) const = 0;
  [[nodiscard]] virtual std::string thread_name(trace_analysis::Index thread) const = 0;
  // "a.exe (100), main (101)"
  [[nodiscard]] virtual std::string thread_of_process(trace_analysis::Index thread) const = 0;
  // By number: "NtClose", and what it is.
  [[nodiscard]] virtual std::string service(u32 number) const = 0;
  [[nodiscard]] virtual trace_analysis::Service::Kind kind_of(u32 service) const = 0;
  // By number; may be empty.
  [[nodiscard]] virtual std::string file(u32 number) const = 0;

  // Since the first event; negative before it.
  [[nodiscard]] virtual i64 nanoseconds(i64 time) const = 0;
  // Of the first event, since 1970 in UTC; nothing if the clock is lost.
  [[nodiscard]] virtual std::optional<i64> start() const = 0;

 protected:
  TimelineNames() = default;
  TimelineNames(const TimelineNames&) = default;
  TimelineNames& operator=(const TimelineNames&) = default;
};

}  // namespace coldtrace::trace_export
