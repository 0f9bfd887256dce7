#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/no_match.hpp"

namespace coldtrace::core {

// Which of the names match one of the globs, whatever their case. A glob that matches none is told
// to `unmatched`, as asked for by `what`, an option.
[[nodiscard]] std::vector<bool> choose_names(std::span<const std::string> globs,
                                             std::span<const std::string> names,
                                             std::string_view what, NoMatch& unmatched);

}  // namespace coldtrace::core
