#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/report/page/html.hpp"

namespace coldtrace::cli {

// A table that is readable without the page's script, which makes it sortable and filterable. A
// cell with a figure shows it short and has it exactly in `data-v`: times in units of 100 ns, sizes
// in bytes, as in the commands' JSON.
class HtmlTable {
 public:
  struct Column {
    std::string_view title;
    bool is_figure = false;
  };
  // `id` is that of the table. `html` must outlive this object.
  HtmlTable(Html& html, std::string_view id, std::string_view caption, std::vector<Column> columns);
  HtmlTable(const HtmlTable&) = delete;
  HtmlTable& operator=(const HtmlTable&) = delete;

  // Cells are added from left to right; the row ends with the last one.
  void text(std::string_view text);
  void word(std::string_view text);  // stays on one line
  void count(u64 number);
  void time(i64 units);
  void bytes(u64 bytes);
  void share(i64 part, i64 whole);
  void hex(u64 number);
  // A time since the first event, in units of 100 ns: "+0.0012345".
  void moment(i64 units);
  // A drawing; the column is sorted by `figure`.
  void drawing(std::string_view markup, u64 figure);
  void nothing();
  template <class T>
  void time_or_nothing(const std::optional<T>& units) {
    units ? time(static_cast<i64>(*units)) : nothing();
  }
  void bytes_or_nothing(const std::optional<u64>& number) { number ? bytes(*number) : nothing(); }
  template <class T>
  void count_or_nothing(const std::optional<T>& number) {
    number ? count(*number) : nothing();
  }

  u64 rows() const { return rows_; }
  // Ends the table, and says how many rows are left out, if any.
  void finish(u64 left_out);

 private:
  void begin_cell(std::string_view attributes);
  void end_cell();
  void figure(std::string_view shown, std::string_view exact);

  Html& html_;
  std::vector<Column> columns_;
  std::size_t at_ = 0;
  u64 rows_ = 0;
};

}  // namespace coldtrace::cli
