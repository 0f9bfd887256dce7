#include "cli/output/text_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/output/character_set.hpp"
#include "cli/output/terminal.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::array<std::string_view, 9> heights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> lengths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 5> shades{"·", "░", "▒", "▓", "█"};

std::string_view environment(const char* name) {
  const auto* const value = std::getenv(name);
  return value != nullptr ? std::string_view{value} : std::string_view{};
}

// Of `steps`, 0 for zero alone.
std::size_t step_of(double amount, double full, std::size_t steps) {
  if (!(amount > 0) || !(full > 0)) return 0;
  const auto most = static_cast<double>(steps);
  return static_cast<std::size_t>(std::clamp(std::ceil(amount / full * most), 1.0, most));
}

}  // namespace

ChartSteps::ChartSteps(double from, double to, std::size_t steps)
    : from_{from}, width_{std::max(0.0, to - from) / static_cast<double>(steps)}, amounts_(steps) {}

void ChartSteps::add(double from, double to, double amount) {
  const auto place = [this](double at) { return width_ > 0 ? (at - from_) / width_ : 0; };
  const auto last = static_cast<double>(amounts_.size());
  const auto begin = place(from), end = std::max(begin, place(to));
  // What ends a whole belongs to its last step.
  const auto first_step = static_cast<std::size_t>(std::clamp(begin, 0.0, last - 1));
  if (begin > last || end < 0) return;
  if (end == begin) {
    amounts_[first_step] += amount;
    return;
  }
  for (auto i = first_step; i < amounts_.size(); ++i) {
    const auto step = static_cast<double>(i);
    const auto shared = std::min(end, step + 1) - std::max(begin, step);
    if (shared <= 0) break;
    amounts_[i] += amount * shared / (end - begin);
  }
}

TextCharts::TextCharts(const OutputOptions& output, std::string_view color) {
  const bool terminal = is_shown_on_terminal(output);
  const bool always = color == "always";
  shown_ = always || (terminal && environment("TERM") != "dumb" && is_locale_utf8());
  colored_ = always || (shown_ && color == "auto" && environment("NO_COLOR").empty());
  columns_ = terminal_columns();
}

std::string TextCharts::colored(std::string chart) const {
  if (!colored_ || chart.empty()) return chart;
  return fmt::format("\x1b[36m{}\x1b[0m", chart);
}

std::string TextCharts::sparkline(const std::vector<double>& amounts, double full) const {
  if (full == 0 && !amounts.empty()) full = std::ranges::max(amounts);
  std::string chart;
  for (const auto amount : amounts) chart += heights[step_of(amount, full, heights.size() - 1)];
  return colored(std::move(chart));
}

std::string TextCharts::bar(double part, double whole, std::size_t width) const {
  constexpr std::size_t eighths = lengths.size() - 1;
  const auto length = step_of(part, whole, width * eighths);
  std::string chart;
  for (std::size_t i = 0; i < length / eighths; ++i) chart += lengths[eighths];
  chart += lengths[length % eighths];
  return colored(std::move(chart)) + std::string(width - (length + eighths - 1) / eighths, ' ');
}

std::string TextCharts::strip(const std::vector<double>& amounts, double full) const {
  std::string chart;
  for (const auto amount : amounts) chart += shades[step_of(amount, full, shades.size() - 1)];
  return colored(std::move(chart));
}

}  // namespace coldtrace::cli
