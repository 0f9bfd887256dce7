#pragma once

#include <functional>
#include <string_view>

namespace coldtrace::trace_export {

// Takes the next bytes of an output.
using ByteSink = std::function<void(std::string_view)>;
// The same for one of several files.
using FileSink = std::function<void(std::string_view file, std::string_view bytes)>;

}  // namespace coldtrace::trace_export
