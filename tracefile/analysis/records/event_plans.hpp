#pragma once

#include <vector>

#include "coldtrace/trace_analysis/records/event_pairs.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "tracefile/analysis/records/event_fields.hpp"
#include "tracefile/analysis/records/known_events.hpp"

namespace coldtrace::trace_analysis {

// What the events of a trace mean, and where in them their fields lie; looked up once for each
// kind.
class EventPlans {
 public:
  // Both must outlive it. Without `pairs` there are none.
  explicit EventPlans(const tracefile::SchemaSource& schemas, EventPairs* pairs = nullptr)
      : decoder_{schemas}, pairs_{pairs} {}

  struct PairPlan {
    EventPairs::Role role;
    bool has_key;
    FieldPlan key;
  };
  struct Plan {
    bool looked_up = false;
    const KnownEvent* known = nullptr;  // null where no analysis asks for the event
    FieldPlan fields;
    std::vector<PairPlan> pairs;  // that it begins or ends a call of
  };
  // Holds until the next call.
  const Plan& of(const tracefile::Event& event);

 private:
  PairPlan plan_pair(const tracefile::Event& event, const tracefile::EventKind& kind,
                     EventPairs::Role role) const;

  tracefile::EventDecoder decoder_;
  EventPairs* pairs_;
  std::vector<Plan> plans_;  // by number of kind, one for each size of pointers
};

}  // namespace coldtrace::trace_analysis
