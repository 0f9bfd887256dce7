#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::cli {

// What a part of the page of `trace top` is about, in the order of the page.
enum class TopSection : u8 { processor, disk, file_operations, network, waits, services, count };

// "file_operations"
std::string_view to_string(TopSection section);
// "Files", and "file operations": what there is none of where the trace has nothing of it.
std::string_view title_of(TopSection section);
std::string_view subject_of(TopSection section);
// The commands that tell more, without "coldtrace".
std::vector<std::string_view> commands_of(TopSection section);
// What has to be logged for it: flags of the kernel's session, of a .ctrace file sets of events.
std::vector<std::string_view> needs_of(TopSection section, const tracefile::AnyTrace& trace);

}  // namespace coldtrace::cli
