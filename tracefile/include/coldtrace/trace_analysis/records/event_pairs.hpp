#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::trace_analysis {

// Two kinds of events that, according to the user, begin and end something.
struct EventPair {
  struct Side {
    std::string provider;  // a GUID, name or glob; empty: any
    std::string event;     // an id, or a name or glob of events or their class
  };

  std::string text;  // as it was given
  Side enter, exit;
  std::string key;  // a field that is the same in both; empty: joined by thread
};

// "[PROVIDER!]EVENT=[PROVIDER!]EVENT[@FIELD]"; nothing if a part is missing.
[[nodiscard]] std::optional<EventPair> parse_event_pair(std::string_view text);

// Knows the events of pairs, and which of them a trace has.
class EventPairs {
 public:
  explicit EventPairs(std::vector<EventPair> pairs)
      : pairs_{std::move(pairs)}, met_(pairs_.size()) {}

  [[nodiscard]] const std::vector<EventPair>& all() const { return pairs_; }

  // What an event of the kind is in which pair. If it ends a pair and begins one, the end comes
  // first.
  struct Role {
    u32 pair;
    bool enters;
  };
  // Remembers that a trace has such events. Empty for kinds that are in no pair.
  std::vector<Role> roles_of(const tracefile::EventKind& kind);

  // Sides that no event matched, once roles_of() was called for the kinds of all events.
  [[nodiscard]] core::NoMatch unmatched() const;

 private:
  struct Met {
    bool enter = false, exit = false;
  };

  std::vector<EventPair> pairs_;
  std::vector<Met> met_;
  std::set<std::string, std::less<>> names_;  // of the events seen
};

}  // namespace coldtrace::trace_analysis
