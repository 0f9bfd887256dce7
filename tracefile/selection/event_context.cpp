#include "coldtrace/tracefile/selection/event_context.hpp"

namespace coldtrace::tracefile {

EventContext event_context_of(const AnyTrace& trace, const SchemaSource& schemas) {
  EventContext context{schemas, trace.names(), trace.clock(), trace.start_time()};
  context.trace = &trace;
  if (trace.files().size() > 1)
    for (const auto& file : trace.files()) context.files.push_back(file.name);
  return context;
}

}  // namespace coldtrace::tracefile
