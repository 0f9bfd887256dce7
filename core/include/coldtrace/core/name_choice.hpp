#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/no_match.hpp"

namespace coldtrace::core {

// For each name, whether it matches one of the globs, ignoring case. A glob that matches none is
// added to `unmatched`, as asked for by the option `what`.
[[nodiscard]] std::vector<bool> choose_names(std::span<const std::string> globs,
                                             std::span<const std::string> names,
                                             std::string_view what, NoMatch& unmatched);

}  // namespace coldtrace::core
