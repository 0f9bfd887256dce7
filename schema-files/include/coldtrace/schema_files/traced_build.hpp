#pragma once

#include <optional>

#include "coldtrace/schema_files/windows_build.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::schema_files {

// The build of Windows on which a trace was recorded; nothing if its header is lost.
[[nodiscard]] std::optional<WindowsBuild> traced_build(const tracefile::AnyTrace& trace);

}  // namespace coldtrace::schema_files
