#pragma once

#include <optional>
#include <span>
#include <string>

#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// How many events an expression must be true of: both limits inclusive, at least one event if
// neither is given.
struct Expectation {
  std::string text;  // of `where`
  WhereExpression where;
  std::optional<u64> min, max;
  u64 events = 0;         // for which it was true
  bool no_match = false;  // it names what no event has, so that its count proves nothing

  [[nodiscard]] u64 least() const { return min.value_or(max ? 0 : 1); }
  [[nodiscard]] bool within_limits() const { return events >= least() && (!max || events <= *max); }
  // An expression that names what no event has cannot meet an expectation of events; it can meet
  // one that accepts that there are none.
  [[nodiscard]] bool met() const { return within_limits() && (!no_match || least() == 0); }
  // Whether the limits are in the wrong order, which nothing can meet.
  [[nodiscard]] bool contradicts_itself() const { return max && least() > *max; }
};

// What a trace was found to have while its events were counted.
struct CheckedTrace {
  u64 events = 0;
  u64 undecoded = 0;  // events whose fields are not all known: not exact
  u64 gaps = 0;       // stretches that are missing or unreadable

  // How many of a million events are undecoded, rounded up, but 0 and a million only if none and
  // all are; nothing if there is no event.
  [[nodiscard]] std::optional<u64> undecoded_ppm() const;
};

// Counts the events of all expectations in one pass. If an expression names what no event has, that
// is `no-match`, or `name-absent`, information, if the expectation accepts that there is no event.
CheckedTrace count_expected(const EventContext& context, EventSequence& events,
                            std::span<Expectation> expectations, core::Findings& findings);

}  // namespace coldtrace::tracefile
