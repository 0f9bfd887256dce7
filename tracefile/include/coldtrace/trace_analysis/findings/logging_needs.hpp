#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::trace_analysis {

// What the answers of analyses are about.
enum class Topic : u8 { processor, disk, file_operations, network, waits, services };
// In the order in which answers are given.
inline constexpr std::array topics{Topic::processor, Topic::disk,  Topic::file_operations,
                                   Topic::network,   Topic::waits, Topic::services};

// "file_operations"
[[nodiscard]] std::string_view to_string(Topic topic);

// What answers are made from.
enum class Need : u8 {
  switches,  // between threads
  readied,   // threads that are made ready
  samples,
  interrupts,
  disk_requests,
  file_operations,
  network_transfers,
  calls,      // of services
  processes,  // and threads
};

// What to log so that a trace like this one has events on a topic: for an .etl file, flags of the
// kernel's session ("CSWITCH"); for a .ctrace file, sets of events ("vtrace"). Any one of them
// helps.
[[nodiscard]] std::vector<std::string_view> logging_needs(Topic topic,
                                                          const tracefile::AnyTrace& trace);

// The same for `needs`, in their order, for a sentence that says what a trace lacks: " (DISK_IO and
// NETWORK_TCPIP of the kernel's flags)". Empty for a .ctrace file, whose tracer has no flags.
[[nodiscard]] std::string logging_hint(std::initializer_list<Need> needs,
                                       const tracefile::AnyTrace& trace);

}  // namespace coldtrace::trace_analysis
