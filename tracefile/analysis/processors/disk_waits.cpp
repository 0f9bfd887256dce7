#include "coldtrace/trace_analysis/processors/disk_waits.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

bool is_about(i64 wait, i64 request, i64 slack) {
  const auto length = static_cast<double>(wait);
  const auto asked = static_cast<double>(request);
  const auto about = static_cast<double>(slack);
  return 0.8 * asked - about < length && length < 1.2 * asked + about;
}

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
  return is_about(ticks_between(*turn.left, *turn.readied), *last.response, tenth_of_millisecond_)
             ? std::optional{How::by_length}
             : std::nullopt;
}

}  // namespace coldtrace::trace_analysis
