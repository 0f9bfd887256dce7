#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

// "; did you mean 'NAME'?" with the one of `names` that is nearest to `wanted`
// (coldtrace/core/nearest_names.hpp), or to the part of `wanted` before its dot, if it has one;
// empty if none is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace coldtrace::cli
