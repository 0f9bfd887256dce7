#pragma once

#include "cli/output/json.hpp"
#include "coldtrace/tracefile/opening/event_times.hpp"

namespace coldtrace::cli {

// Members of a session: the times of the earliest and latest event.
void write_event_times(JsonWriter& json, const std::optional<tracefile::EventTimes>& times);

}  // namespace coldtrace::cli
