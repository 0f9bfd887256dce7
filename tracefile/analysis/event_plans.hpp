#pragma once

#include <vector>

#include "coldtrace/tracefile/event_decoder.hpp"
#include "tracefile/analysis/event_fields.hpp"
#include "tracefile/analysis/known_events.hpp"

namespace coldtrace::trace_analysis {

// What the events of a trace mean, and where in them their fields lie; looked up once for each
// kind.
class EventPlans {
 public:
  // `schemas` must outlive it.
  explicit EventPlans(const tracefile::SchemaSource& schemas) : decoder_{schemas} {}

  struct Plan {
    bool looked_up = false;
    const KnownEvent* known = nullptr;  // null where no analysis asks for the event
    FieldPlan fields;
  };
  // Holds until the next call.
  const Plan& of(const tracefile::Event& event);

 private:
  tracefile::EventDecoder decoder_;
  std::vector<Plan> plans_;  // by number of kind, one for each size of pointers
};

}  // namespace coldtrace::trace_analysis
