#pragma once

#include <optional>
#include <span>
#include <string>

#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// How many events an expression is to be true of: both limits included, at least one event where
// neither is given.
struct Expectation {
  std::string text;  // of `where`
  WhereExpression where;
  std::optional<u64> min, max;
  u64 events = 0;         // that it was true of
  bool no_match = false;  // it names what no event has, so that its count proves nothing

  [[nodiscard]] u64 least() const { return min.value_or(max ? 0 : 1); }
  [[nodiscard]] bool within_limits() const { return events >= least() && (!max || events <= *max); }
  // What no event has is nothing that events could be expected to have; that there are none it is
  // no proof against.
  [[nodiscard]] bool met() const { return within_limits() && (!no_match || least() == 0); }
  // That limits are in the wrong order, which nothing can meet.
  [[nodiscard]] bool contradicts_itself() const { return max && least() > *max; }
};

// What a trace was found to have while its events were counted.
struct CheckedTrace {
  u64 events = 0;
  u64 undecoded = 0;  // events whose fields are not all known: not exact
  u64 gaps = 0;       // stretches that are missing or unreadable

  // Of a million events those that are undecoded, rounded up, but none of them and all of them only
  // where that is so; nothing where there is no event.
  [[nodiscard]] std::optional<u64> undecoded_ppm() const;
};

// Counts the events of all expectations in one pass. What no event had marks its expectation: it is
// `no-match`, and `name-absent`, information, where the expectation accepts that there is no event.
CheckedTrace count_expected(const EventContext& context, EventSequence& events,
                            std::span<Expectation> expectations, core::Findings& findings);

}  // namespace coldtrace::tracefile
