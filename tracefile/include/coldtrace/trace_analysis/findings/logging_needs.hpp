#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::trace_analysis {

// What the answers of analyses are about.
enum class Topic : u8 { processor, disk, file_operations, network, waits, services };
// In the order in which answers are told.
inline constexpr std::array topics{Topic::processor, Topic::disk,  Topic::file_operations,
                                   Topic::network,   Topic::waits, Topic::services};

// "file_operations"
[[nodiscard]] std::string_view to_string(Topic topic);

// What has to be logged so that a trace like this one has events of a topic: of an .etl file flags
// of the kernel's session ("CSWITCH"), of a .ctrace file sets of events ("vtrace").
[[nodiscard]] std::vector<std::string_view> logging_needs(Topic topic,
                                                          const tracefile::AnyTrace& trace);

}  // namespace coldtrace::trace_analysis
