#include "cli/command/suggestion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {

std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names) {
  const auto nearest = core::nearest_names(wanted, names, 1);
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest.front());
  // Where names have no members, what is in front of the dot.
  const auto whole = wanted.substr(0, wanted.find('.'));
  if (whole == wanted) return {};
  return std::ranges::find(names, whole) != names.end() ? fmt::format("; did you mean '{}'?", whole)
                                                        : did_you_mean(whole, names);
}

}  // namespace coldtrace::cli
