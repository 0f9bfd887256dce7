#include "cli/output/spreadsheet_cells.hpp"

namespace coldtrace::cli {
namespace {

bool starts_formula(char c) {
  return std::string_view{"=+-@\t\r\n"}.find(c) != std::string_view::npos;
}

}  // namespace

void SpreadsheetCells::append(core::TextBuffer& safe, std::string_view csv) {
  for (const char c : csv) {
    switch (at_) {
      case At::start:
        if (c == '"') {
          at_ = At::quoted_start;
        } else if (c != ',' && c != '\n') {
          if (starts_formula(c)) safe.append('\'');
          at_ = At::cell;
        }
        break;
      case At::quoted_start:
        // A quote ends the cell or is the first of a pair; a formula starts with neither.
        if (starts_formula(c)) safe.append('\'');
        at_ = c == '"' ? At::cell : At::quoted;
        break;
      case At::cell:
        // After the closing quote comes the end of the cell, or the second quote of a pair.
        if (c == ',' || c == '\n') at_ = At::start;
        if (c == '"') at_ = At::quoted;
        break;
      case At::quoted:
        if (c == '"') at_ = At::cell;
        break;
    }
    safe.append(c);
  }
}

}  // namespace coldtrace::cli
