#include "coldtrace/trace_analysis/disk_waits.hpp"

#include "coldtrace/trace_analysis/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

DiskWaits::DiskWaits(CounterTicks counter)
    : tenth_of_millisecond_{counter.millisecond() / 10},
      requests_{counter, [this](const DiskRequest& request) {
                  if (request.thread == nobody) return;
                  grown(ended_, request.thread) =
                      Ended{request.disk, request.action, request.end, request.response};
                }} {}

std::optional<DiskWaits::Ended> DiskWaits::last_of(Index thread) const {
  return thread < ended_.size() ? ended_[thread] : std::nullopt;
}

std::optional<DiskWaits::How> DiskWaits::explains(const Ended& last, const Turn& turn) const {
  if (!turn.left || !turn.readied || last.end.time < *turn.left || last.end.time > *turn.readied)
    return std::nullopt;
  const bool same_processor = last.end.cpu && last.end.cpu == turn.readied_on;
  if (turn.woken_in_dpc && same_processor &&
      ticks_between(last.end.time, *turn.readied) <= tenth_of_millisecond_)
    return How::by_interrupt;
  if (!last.response) return std::nullopt;
  const auto wait = static_cast<double>(ticks_between(*turn.left, *turn.readied));
  const auto request = static_cast<double>(*last.response);
  const auto slack = static_cast<double>(tenth_of_millisecond_);
  const bool alike = 0.8 * request - slack < wait && wait < 1.2 * request + slack;
  return alike ? std::optional{How::by_length} : std::nullopt;
}

}  // namespace coldtrace::trace_analysis
