#include "coldtrace/tracefile/opening/event_times.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

void extend(std::optional<EventTimes>& times, core::FileTime first, core::FileTime last) {
  if (!times) {
    times = {first, last};
    return;
  }
  times->first.ticks = std::min(times->first.ticks, first.ticks);
  times->last.ticks = std::max(times->last.ticks, last.ticks);
}

}  // namespace

std::optional<EventTimes> find_event_times(const BufferScan& scan, const Clock& clock) {
  if (!clock.known()) return std::nullopt;
  std::optional<EventTimes> times;
  for (const auto& buffer : scan.buffers)
    if (buffer.events > 0)
      extend(times, clock.to_file_time(buffer.first_time), clock.to_file_time(buffer.last_time));
  return times;
}

std::optional<EventTimes> find_event_times(const Ctrace& trace, const CtracePart& part) {
  const auto& buffers = part.scan.buffers;
  std::optional<EventTimes> times;
  for (u64 i = 0; i < buffers.size(); ++i) {
    const auto buffer = buffers.at(i);
    if (!buffer) return std::nullopt;
    if (buffer->events == 0) continue;
    CtraceClock::Cursor cursor;
    const auto time = [&, &clock = trace.clock_of(part, buffer->processor)](u64 stamp) {
      return core::FileTime{clock.to_time(stamp, cursor).ticks};
    };
    extend(times, time(buffer->first_stamp), time(buffer->last_stamp));
  }
  return times;
}

}  // namespace coldtrace::tracefile
