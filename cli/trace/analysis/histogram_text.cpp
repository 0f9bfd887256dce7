#include "cli/trace/analysis/histogram_text.hpp"

#include <bit>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

unsigned octave_of(u64 value) {
  return value == 0 ? 0 : static_cast<unsigned>(std::bit_width(value - 1)) + 1;
}

// How many values lie above half of a power of two and not above it, by its binary digits; 0 has
// none.
std::map<unsigned, u64> count_octaves(const trace_analysis::Histogram& histogram) {
  std::map<unsigned, u64> octaves;
  for (const auto& step : histogram.steps()) octaves[octave_of(step.greatest)] += step.count;
  return octaves;
}

i64 greatest_of(unsigned width) {
  constexpr unsigned most_width = std::numeric_limits<i64>::digits;
  if (width == 0) return 0;
  return width > most_width ? std::numeric_limits<i64>::max() : i64{1} << (width - 1);
}

}  // namespace

std::string octaves_text(const trace_analysis::Histogram& histogram,
                         const std::function<std::string(i64)>& unit) {
  std::string text;
  for (const auto& [width, count] : count_octaves(histogram))
    text += fmt::format("{}{}: {}", text.empty() ? "up to " : ", ", unit(greatest_of(width)),
                        grouped(count));
  return text.empty() ? "none" : text;
}

Octaves octaves_of(const trace_analysis::Histogram& histogram) {
  const auto octaves = count_octaves(histogram);
  if (octaves.empty()) return {};
  const auto first = octaves.begin()->first, last = octaves.rbegin()->first;
  Octaves drawn{std::vector<double>(last - first + 1), greatest_of(first), greatest_of(last)};
  for (const auto& [width, count] : octaves)
    drawn.counts[width - first] = static_cast<double>(count);
  return drawn;
}

}  // namespace coldtrace::cli
