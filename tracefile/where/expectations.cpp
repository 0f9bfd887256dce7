#include "coldtrace/tracefile/where/expectations.hpp"

#include <algorithm>
#include <deque>

#include "coldtrace/core/no_match.hpp"

namespace coldtrace::tracefile {

std::optional<u64> CheckedTrace::undecoded_ppm() const {
  constexpr u64 million = 1'000'000;
  if (events == 0) return std::nullopt;
  const auto rounded_up = (undecoded * million + events - 1) / events;
  return undecoded < events ? std::min(rounded_up, million - 1) : million;
}

CheckedTrace count_expected(const EventContext& context, EventSequence& events,
                            std::span<Expectation> expectations, core::Findings& findings) {
  CheckedTrace checked;
  EventDecoder decoder{context.schemas};
  std::deque<EventFilter> filters;
  for (const auto& expectation : expectations) filters.emplace_back(context, expectation.where);
  for (;;) {
    const auto item = events.next();
    if (item == EventSequence::Item::end) break;
    if (item == EventSequence::Item::gap) {
      ++checked.gaps;
      continue;
    }
    const auto& event = events.event();
    ++checked.events;
    const auto& kind = decoder.kind_of(event);
    checked.undecoded += decoder.measure(event, kind).decoded == Decoded::exact ? 0U : 1U;
    for (std::size_t i = 0; i < filters.size(); ++i)
      expectations[i].events += filters[i].wants(event) ? 1U : 0U;
  }
  core::NoMatch unmatched;  // by those that expect events
  core::NoMatch absent;     // by those that are met without any
  for (std::size_t i = 0; i < filters.size(); ++i) {
    auto& expectation = expectations[i];
    expectation.no_match =
        filters[i].report(expectation.least() == 0 ? absent : unmatched, "--expect");
  }
  unmatched.report(findings);
  core::Findings told;
  absent.report(told);
  for (const auto& finding : told.all())
    findings.info("name-absent", std::nullopt, "{}", finding.text);
  return checked;
}

}  // namespace coldtrace::tracefile
