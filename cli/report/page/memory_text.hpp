#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// What a writer writes to an output, as a text for a page; nothing if it is longer than `most`
// bytes.
std::optional<std::string> text_in_memory(std::size_t most,
                                          const std::function<void(Output&)>& write);

}  // namespace coldtrace::cli
