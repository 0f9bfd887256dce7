#pragma once

#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// Makes CSV safe to open in a spreadsheet: puts an apostrophe before every cell that would be taken
// for a formula, because it starts with '=', '+', '-', '@', a tab or a line end.
// Source: OWASP, "CSV Injection".
class SpreadsheetCells {
 public:
  // Appends the next piece of the CSV, which may end anywhere, to `safe`.
  void append(core::TextBuffer& safe, std::string_view csv);

 private:
  enum class At { start, quoted_start, cell, quoted };
  At at_ = At::start;
};

}  // namespace coldtrace::cli
