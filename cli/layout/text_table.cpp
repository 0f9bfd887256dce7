#include "cli/layout/text_table.hpp"

#include <algorithm>
#include <utility>

#include "cli/output/text.hpp"
#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {
namespace {

using core::display_width;

// What a label keeps on a narrow terminal, if it is as long.
constexpr std::size_t least_label = 26;

// The two lines of a heading, the upper one empty where a second one saves nothing.
std::pair<std::string_view, std::string_view> lines_of(std::string_view heading, bool two_lines) {
  std::pair<std::string_view, std::string_view> best{{}, heading};
  if (!two_lines) return best;
  for (auto at = heading.find(' '); at != heading.npos; at = heading.find(' ', at + 1)) {
    const std::pair lines{heading.substr(0, at), heading.substr(at + 1)};
    const auto width = [](const auto& two) {
      return std::max(two.first.size(), two.second.size());
    };
    if (width(lines) < width(best)) best = lines;
  }
  return best;
}

std::string padded(std::string_view text, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return left ? std::string{text} + blanks : blanks + std::string{text};
}

}  // namespace

TextTable::TextTable(Output& output, std::vector<TextColumn> columns, std::string label)
    : output_{output}, columns_{std::move(columns)}, label_{std::move(label)} {
  if (output_.columns() > 0) return;
  for (const auto& one : columns_) print(output_, "{} ", padded(one.heading, one.width, one.left));
  print(output_, " {}\n", label_);
}

void TextTable::add_row(Row row) {
  if (output_.columns() > 0) {
    rows_.push_back(std::move(row));
    return;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& column = columns_[i];
    const bool has_room = !column.left || display_width(row.cells[i]) <= column.width;
    // Two blanks between words of neighbours, wherever the first of them ends.
    print(output_, "{}{}", padded(row.cells[i], column.width, column.left), has_room ? " " : "  ");
  }
  print(output_, " {}\n", row.label);
}

bool TextTable::tells_nothing(std::size_t column) const {
  return std::ranges::all_of(rows_, [&](const Row& row) { return row.cells[column] == "-"; });
}

TextTable::Layout TextTable::arrange(bool two_lines) const {
  Layout layout{.two_lines = two_lines};
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto [upper, lower] = lines_of(columns_[i].heading, two_lines);
    auto width = std::max(upper.size(), lower.size());
    for (const auto& row : rows_) width = std::max(width, display_width(row.cells[i]));
    layout.widths.push_back(width);
    layout.columns.push_back(i);
  }
  layout.longest = display_width(label_);
  for (const auto& row : rows_) layout.longest = std::max(layout.longest, display_width(row.label));
  const auto lacks_room = [&] {
    std::size_t used = 1;
    for (const auto i : layout.columns) used += layout.widths[i] + 1;
    layout.label = output_.columns() - std::min(output_.columns(), used);
    return layout.label < std::min(layout.longest, least_label);
  };
  for (auto i = columns_.size(); i-- > 0 && lacks_room();)
    if (tells_nothing(i)) std::erase(layout.columns, i);
  while (lacks_room() && layout.columns.size() > 1) layout.columns.pop_back();
  return layout;
}

void TextTable::finish() {
  if (output_.columns() == 0) return;
  auto layout = arrange(false);
  if (layout.columns.size() < columns_.size() || layout.label < layout.longest)
    layout = arrange(true);
  write_headings(layout);
  for (const auto& row : rows_) write_row(layout, row);
  if (const auto left_out = columns_.size() - layout.columns.size(); left_out > 0 && !rows_.empty())
    print(output_, "({} left out: a wider terminal, a pipe or a file shows all)\n",
          counted(left_out, "column", "columns"));
  rows_.clear();
}

void TextTable::write_headings(const Layout& layout) {
  std::string upper, lower;
  for (const auto i : layout.columns) {
    const auto& column = columns_[i];
    const auto lines = lines_of(column.heading, layout.two_lines);
    upper += padded(lines.first, layout.widths[i], column.left) + " ";
    lower += padded(lines.second, layout.widths[i], column.left) + " ";
  }
  if (const auto end = upper.find_last_not_of(' '); end != upper.npos)
    print(output_, "{}\n", upper.substr(0, end + 1));
  print(output_, "{} {}\n", lower, label_);
}

void TextTable::write_row(const Layout& layout, const Row& row) {
  for (const auto i : layout.columns)
    print(output_, "{} ", padded(row.cells[i], layout.widths[i], columns_[i].left));
  print(output_, " {}\n", row.label);
}

}  // namespace coldtrace::cli
