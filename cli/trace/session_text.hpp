#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/output/json.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::cli {

// "1 event", "at least 2 events", "an unknown number of events".
std::string lost_text(const tracefile::LostCount& lost, std::string_view one,
                      std::string_view several);

// "Windows 10.0.19045", "Windows (version not stated)".
std::string windows_text(const std::optional<std::string>& version);

// The members events_lost and buffers_lost, null where they are not known, and what they are at
// least.
void write_lost(JsonWriter& json, const tracefile::LostCount& events,
                const tracefile::LostCount& buffers);

}  // namespace coldtrace::cli
