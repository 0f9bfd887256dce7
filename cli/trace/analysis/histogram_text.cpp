#include "cli/trace/analysis/histogram_text.hpp"

#include <bit>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace coldtrace::cli {

std::string octaves_text(const trace_analysis::Histogram& histogram,
                         const std::function<std::string(i64)>& unit) {
  std::map<unsigned, u64> octaves;
  for (const auto& step : histogram.steps())
    octaves[static_cast<unsigned>(std::bit_width(step.greatest))] += step.count;
  std::string text;
  for (const auto& [width, count] : octaves) {
    constexpr unsigned most_width = std::numeric_limits<i64>::digits;
    const auto greatest =
        width >= most_width ? std::numeric_limits<i64>::max() : (i64{1} << width) - 1;
    text += fmt::format("{}{}: {}", text.empty() ? "up to " : ", ", unit(greatest), count);
  }
  return text.empty() ? "none" : text;
}

}  // namespace coldtrace::cli
