#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/core/guid.hpp"

namespace coldtrace::tracefile {

// The name under which Windows registers a provider of its own; empty for any other.
[[nodiscard]] std::string_view find_registered_name(const core::Guid& provider);

// All these names, each once, in order.
[[nodiscard]] std::vector<std::string_view> registered_names();

// Names of the files that declare its events on some Windows from 7 to 11, the latest first; empty
// if that is not known. A hint: files move between builds, and are recognised by their contents.
[[nodiscard]] std::vector<std::string_view> find_registered_files(const core::Guid& provider);

}  // namespace coldtrace::tracefile
