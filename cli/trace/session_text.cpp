#include "cli/trace/session_text.hpp"

#include "cli/output/text.hpp"

namespace coldtrace::cli {

std::string lost_text(const tracefile::LostCount& lost, std::string_view one,
                      std::string_view several) {
  if (lost.all) return counted(*lost.all, one, several);
  if (lost.at_least > 0) return "at least " + counted(lost.at_least, one, several);
  return fmt::format("an unknown number of {}", several);
}

std::string windows_text(const std::optional<std::string>& version) {
  return "Windows " + version.value_or("(version not stated)");
}

void write_lost(JsonWriter& json, const tracefile::LostCount& events,
                const tracefile::LostCount& buffers) {
  json.field("events_lost", events.all)
      .field("events_lost_at_least", events.at_least)
      .field("buffers_lost", buffers.all)
      .field("buffers_lost_at_least", buffers.at_least);
}

}  // namespace coldtrace::cli
