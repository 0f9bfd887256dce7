#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

// "; did you mean 'NAME'?" with the one of `names` nearest to `wanted`
// (coldtrace/core/nearest_names.hpp), or to what precedes a dot in `wanted`; empty if none is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace coldtrace::cli
