#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// What a writer of any output writes, to become a part of a page; nothing where that is longer than
// `most` bytes.
std::optional<std::string> text_in_memory(std::size_t most,
                                          const std::function<void(Output&)>& write);

}  // namespace coldtrace::cli
