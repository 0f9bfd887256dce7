#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

struct TextColumn {
  std::string heading;
  std::size_t width;  // minimum without a terminal
  bool left = false;  // else cells are aligned right with the heading
};

// A table of text: columns, and a label that ends each row. Without a terminal, rows are written as
// they come. On a terminal, columns are as narrow as their contents, and headings take two lines if
// that saves room; if labels would still go on below, columns are left out, first those
// without information and then the last ones, and the table says so.
class TextTable {
 public:
  TextTable(Output& output, std::vector<TextColumn> columns, std::string label);

  template <class... Cells>
  void add(std::string label, const Cells&... cells) {
    add_row({{fmt::to_string(cells)...}, std::move(label)});
  }
  void add_cells(std::string label, std::vector<std::string> cells) {
    add_row({std::move(cells), std::move(label)});
  }

  // To be called after the last row.
  void finish();

 private:
  struct Row {
    std::vector<std::string> cells;  // of each column
    std::string label;
  };
  struct Layout {
    bool two_lines = false;            // of headings
    std::vector<std::size_t> columns;  // that are shown
    std::vector<std::size_t> widths;   // of all
    std::size_t label = 0;             // room for one on the terminal
    std::size_t longest = 0;           // of the labels
  };

  void add_row(Row row);
  Layout arrange(bool two_lines) const;
  void write_headings(const Layout& layout);
  void write_row(const Layout& layout, const Row& row);
  bool tells_nothing(std::size_t column) const;

  Output& output_;
  std::vector<TextColumn> columns_;
  std::string label_;
  std::vector<Row> rows_;  // on a terminal
};

}  // namespace coldtrace::cli
