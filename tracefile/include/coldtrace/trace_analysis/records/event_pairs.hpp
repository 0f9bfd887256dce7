#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::trace_analysis {

// Two kinds of events of which a user says that they begin and end something.
struct EventPair {
  struct Side {
    std::string provider;  // a GUID, name or glob; empty: any
    std::string event;     // an id, or a name or glob of events or their class
  };

  std::string text;  // as it was given
  Side enter, exit;
  std::string key;  // a field that is the same in both; empty: their thread is
};

// "[PROVIDER!]EVENT=[PROVIDER!]EVENT[@FIELD]"; nothing where a part is missing.
[[nodiscard]] std::optional<EventPair> parse_event_pair(std::string_view text);

// Knows the events of pairs, and of which of them a trace has any.
class EventPairs {
 public:
  explicit EventPairs(std::vector<EventPair> pairs)
      : pairs_{std::move(pairs)}, met_(pairs_.size()) {}

  [[nodiscard]] const std::vector<EventPair>& all() const { return pairs_; }

  // What an event of the kind is to which pair. One that ends a pair and begins one does it in this
  // order.
  struct Role {
    u32 pair;
    bool enters;
  };
  // Remembers that a trace has such events. Empty of kinds that are in no pair.
  std::vector<Role> roles_of(const tracefile::EventKind& kind);

  // Sides that no event was, once roles_of() was asked for the kinds of all.
  [[nodiscard]] core::NoMatch unmatched() const;

 private:
  struct Met {
    bool enter = false, exit = false;
  };

  std::vector<EventPair> pairs_;
  std::vector<Met> met_;
  std::set<std::string, std::less<>> names_;  // of the events there were
};

}  // namespace coldtrace::trace_analysis
