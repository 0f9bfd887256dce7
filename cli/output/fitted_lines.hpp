#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// Cuts lines that are wider than the terminal, with an ellipsis in the last column.
class FittedLines {
 public:
  explicit FittedLines(std::size_t columns) : columns_{columns} {}

  // Appends the next piece of text, which may end anywhere, to `fitted`.
  void append(core::TextBuffer& fitted, std::string_view text);
  // Appends what is left of a last line without an end.
  void finish(core::TextBuffer& fitted);

 private:
  std::size_t columns_;
  std::string line_;  // its beginning
  bool cut_ = false;  // there was more than fits
};

}  // namespace coldtrace::cli
