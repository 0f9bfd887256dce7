#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/trace_analysis/findings/logging_needs.hpp"

namespace coldtrace::cli {

// What a part of the page of `trace top` is about, in the order of the page.
using trace_analysis::Topic;

// "Files", and "file operations": what there is none of where the trace has nothing of it.
std::string_view title_of(Topic topic);
std::string_view subject_of(Topic topic);
// The commands that tell more, without "coldtrace".
std::vector<std::string_view> commands_of(Topic topic);

}  // namespace coldtrace::cli
