#include "cli/trace/lines/event_times.hpp"

namespace coldtrace::cli {

void write_event_times(JsonWriter& json, const std::optional<tracefile::EventTimes>& times) {
  json.field("first_event", times ? std::optional{core::to_string(times->first)} : std::nullopt)
      .field("last_event", times ? std::optional{core::to_string(times->last)} : std::nullopt);
}

}  // namespace coldtrace::cli
