#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_analysis {

// How many events of one kind a trace has. Kinds of two traces are the same regardless of version:
// by provider and number, or by name if an event carries its own schema instead of a number.
struct KindTally {
  core::Guid provider;
  tracefile::EventClass event_class;
  std::optional<u16> number;  // the id, or the opcode of a classic event
  std::string provider_name, name;
  u64 events = 0;
};

// The time between start and stop of a task (opcodes 1 and 2 of a manifest or TraceLogging event).
// A stop belongs to the nearest open start of the same activity or, without activities, of the same
// thread. In units of 100 ns.
struct PairTally {
  core::Guid provider;
  std::optional<u16> task;          // of an event that has a manifest
  std::string provider_name, name;  // of the task
  u64 pairs = 0;
  i64 total = 0;
  i64 longest = 0;

  [[nodiscard]] i64 mean() const { return pairs == 0 ? 0 : total / static_cast<i64>(pairs); }
};

// The events of a trace, counted.
struct TraceTally {
  u64 events = 0;  // that are wanted
  // Of all events: the times by which names are looked up, and what passed in units of 100 ns.
  std::optional<i64> first, last;
  std::optional<u64> duration;
  // In a fixed order, which neither numbers nor names decide alone.
  std::vector<KindTally> kinds;
  std::vector<PairTally> pairs;
  u64 left_out = 0;  // events beyond the kinds and open starts that are kept
  u64 unread_buffers = 0;
  core::NoMatch unmatched;  // of the selection
};

// Counts the events that are selected.
[[nodiscard]] TraceTally tally(const tracefile::EventContext& context,
                               tracefile::EventSequence& events,
                               const tracefile::EventSelection& selection);

// `no-match`, `compare-limit` and `trace-changed`: what the tally lacks.
void note_tally(const TraceTally& tally, core::Findings& findings);

}  // namespace coldtrace::trace_analysis
