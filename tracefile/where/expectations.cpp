#include "coldtrace/tracefile/where/expectations.hpp"

#include <deque>

namespace coldtrace::tracefile {

CheckedTrace count_expected(const EventContext& context, EventSequence& events,
                            std::span<Expectation> expectations, core::NoMatch& unmatched,
                            core::NoMatch& absent) {
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
  for (std::size_t i = 0; i < filters.size(); ++i) {
    auto& expectation = expectations[i];
    expectation.no_match =
        filters[i].report(expectation.least() == 0 ? absent : unmatched, "--expect");
  }
  return checked;
}

}  // namespace coldtrace::tracefile
