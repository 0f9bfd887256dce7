#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::cli {

struct OutputOptions;

// Amounts along a time or a place, added up in equal steps.
class ChartSteps {
 public:
  ChartSteps(double from, double to, std::size_t steps);

  // Spread evenly between the two, which can be the same. What lies outside is not counted.
  void add(double from, double to, double amount);

  const std::vector<double>& amounts() const { return amounts_; }
  // How long one step is.
  double width() const { return width_; }

 private:
  double from_, width_;
  std::vector<double> amounts_;
};

// Small charts of block characters beside text for people: on a terminal, and with `--color
// always`. Pipes and files get none, so that their text is the same whoever asks for it.
class TextCharts {
 public:
  TextCharts() = default;
  // `color` is what --color says: auto, always or never. NO_COLOR of the environment counts with
  // auto; TERM=dumb and a character set of the locale that is not UTF-8 mean no charts with it.
  TextCharts(const OutputOptions& output, std::string_view color);

  bool shown() const { return shown_; }
  // Of the terminal.
  std::size_t columns() const { return columns_; }

  // One character for each amount, in eight heights; nothing but zero is a blank. `full` is what
  // the greatest height stands for, 0 the greatest amount.
  std::string sparkline(const std::vector<double>& amounts, double full = 0) const;

  // A bar and blanks, so many columns together; any part is seen.
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
