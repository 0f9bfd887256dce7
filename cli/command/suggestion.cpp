#include "cli/command/suggestion.hpp"

#include <fmt/format.h>

#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {

std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names) {
  const auto nearest = core::nearest_names(wanted, names, 1);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest.front());
}

}  // namespace coldtrace::cli
