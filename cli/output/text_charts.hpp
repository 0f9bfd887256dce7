#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

struct OutputOptions;

// Amounts over a time or along a location, added up in equal steps.
class ChartSteps {
 public:
  ChartSteps(double from, double to, std::size_t steps);

  // Spread evenly between the two points, which may be equal. What is outside is not counted.
  void add(double from, double to, double amount);

  const std::vector<double>& amounts() const { return amounts_; }
  // The length of one step.
  double width() const { return width_; }

 private:
  double from_, width_;
  std::vector<double> amounts_;
};

// Small charts of block characters beside text for people: on a terminal, and with `--color
// always`. Pipes and files get none, so that their text is always the same.
class TextCharts {
 public:
  TextCharts() = default;
  // `color` is what --color says: auto, always or never. NO_COLOR in the environment applies to
  // auto; TERM=dumb or a locale's character set other than UTF-8 means no charts, except with
  // always.
  TextCharts(const OutputOptions& output, std::string_view color);

  bool shown() const { return shown_; }
  // Of the terminal.
  std::size_t columns() const { return columns_; }

  // One character for each amount, in eight heights; only zero is a blank. `full` is what the
  // greatest height stands for; 0 means the greatest amount.
  std::string sparkline(const std::vector<double>& amounts, double full = 0) const;

  // A bar and blanks, `width` columns in total; any part other than zero is visible.
  std::string bar(double part, double whole, std::size_t width) const;

  // One character for each amount, from a dot for none to a full block for `full` and more.
  std::string strip(const std::vector<double>& amounts, double full) const;

 private:
  std::string colored(std::string chart) const;

  bool shown_ = false;
  bool colored_ = false;
  std::size_t columns_ = 0;
};

}  // namespace coldtrace::cli
