#pragma once

#include <span>
#include <vector>

#include "coldtrace/tracefile/ctrace/ctrace_part.hpp"

namespace coldtrace::tracefile {

// The chains of a trace of one file.
std::vector<CtraceChain> chains_of(CtracePart& part);

// Links the buffers of each processor and session across the files, by their numbers, and says what
// is missing in the findings of the file that has the buffer behind it. Fails with a sentence where
// two files have one buffer.
core::Expected<std::vector<CtraceChain>, std::string> link_parts(
    std::span<CtracePart> parts, std::span<core::Findings> findings);

}  // namespace coldtrace::tracefile
