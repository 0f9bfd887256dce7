#include "coldtrace/trace_analysis/waits/request_waits.hpp"

#include <utility>

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void RequestWaits::begin(const Observed& observed) {
  turns_.begin(observed);
  disk_.begin(observed);
}

void RequestWaits::on_switch(const ContextSwitch& record) {
  turns_.on_switch(record);
  departures_.on_switch(record);
}

void RequestWaits::on_ready(const Readied& record) {
  const auto superfluous = turns_.counts().superfluous;
  turns_.on_ready(record);
  if (turns_.counts().superfluous == superfluous)
    grown(readied_, record.thread) = disk_.last_of(record.thread);
}

void RequestWaits::end_turn(const Turn& turn) {
  const auto request = std::exchange(grown(readied_, turn.thread), std::nullopt);
  const auto waiting = absence_before(turn).waiting;
  if (!request || !waiting) return;
  const auto how = disk_.explains(*request, turn);
  if (!how) return;
  auto* const known = edge(turn.thread, request->disk, request->action);
  if (known == nullptr) return;
  known->ended.add(*waiting, departures_.before(turn));
  if (*how == DiskWaits::How::by_interrupt) ++known->by_interrupt;
}

// Who began a request, left its processor to wait before that ended, and is still away.
void RequestWaits::add_open(const DiskStart& request, const Observed& observed) {
  if (request.thread == nobody) return;
  const auto standing = turns_.standing(request.thread);
  const auto left = departures_.of(request.thread);
  if (standing.where != Standing::Where::waiting || !left || left->time != standing.since ||
      request.moment.time > left->time ||
      observed.losses.anywhere(request.moment.time, *observed.last))
    return;
  if (auto* const known = edge(request.thread, request.disk, request.action))
    known->open_since = left;
}

void RequestWaits::finish(const Observed& observed) {
  turns_.finish(observed);
  for (const auto& request : disk_.open()) add_open(request, observed);
}

}  // namespace coldtrace::trace_analysis
