#include "cli/output/fitted_lines.hpp"

#include <algorithm>

#include "coldtrace/core/display_width.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {
namespace {

constexpr char escape = '\x1b';
constexpr std::string_view no_color = "\x1b[0m";

// Of the front that has room in so many columns, of which colors take none.
std::size_t fitting_bytes(std::string_view line, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < line.size()) {
    const auto color = std::min(line.find(escape, bytes), line.size());
    const auto piece = line.substr(bytes, color - bytes);
    const auto front = core::fitting_front(piece, columns);
    if (front.size() < piece.size()) return bytes + front.size();
    columns -= core::display_width(piece);
    bytes = std::min(line.find('m', color), line.size() - 1) + 1;
  }
  return bytes;
}

// The color that is on at the end of a text; empty: none.
std::string open_color(std::string_view text) {
  const auto last = text.substr(std::min(text.rfind(escape), text.size()));
  return std::string{last.starts_with(no_color) ? "" : last.substr(0, last.find('m') + 1)};
}

// The bytes of the first character, with the colors before it.
std::size_t first_bytes(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && line[at] == escape)
    at = std::min(line.find('m', at), line.size() - 1) + 1;
  return at < line.size() ? at + core::first_character(line.substr(at)).size() : at;
}

// Where a word ends that is longer than the room: in front of a separator of a path, or behind a
// dash. A comma stays with what it follows.
std::size_t find_word_break(std::string_view line, std::size_t least, std::size_t fits) {
  const auto separator = line.find_last_of("\\/", fits);
  if (separator != line.npos && separator > std::max(least, fits / 4)) return separator;
  const auto dash = fits > 0 ? line.rfind('-', fits - 1) : line.npos;
  if (dash != line.npos && dash >= std::max(least, fits / 2)) return dash + 1;
  const bool is_comma = fits < line.size() && line[fits] == ',';
  return is_comma && fits > least + 1 && static_cast<unsigned char>(line[fits - 1]) < 0x80
             ? fits - 1
             : fits;
}

}  // namespace

std::size_t find_line_break(std::string_view line, std::size_t least, std::size_t fits) {
  const auto searched = line.substr(0, fits + 1);
  const auto comma = searched.rfind(", "), blank = searched.rfind(' ');
  if (comma != searched.npos && comma > std::max(least, fits / 2)) return comma + 1;
  if (blank != searched.npos && blank > least) return blank;
  return find_word_break(line, least, fits);
}

void FittedLines::append(core::TextBuffer& fitted, std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    line_.append(text.substr(0, end));
    while (break_line(fitted)) {
    }
    if (end == std::string_view::npos) return;
    finish(fitted);
    fitted.append('\n');
    text.remove_prefix(end + 1);
  }
}

void FittedLines::finish(core::TextBuffer& fitted) {
  if (!is_below_ || !line_.empty()) put(fitted, line_);
  line_.clear();
  is_below_ = false;
  taken_ = 0;
}

// Writes what has room of a line that is too long; false if all that is left has room.
bool FittedLines::break_line(core::TextBuffer& fitted) {
  const std::string_view line{line_};
  const auto least = std::min(line.find_first_not_of(' '), line.size());
  if (is_below_ && least > 0) {
    line_.erase(0, least);
    taken_ += least;
    return true;
  }
  const auto fits = fitting_bytes(line, columns_ - indent());
  if (fits == line.size()) return false;
  constexpr std::size_t deeper = 4;
  if (!is_below_) indent_ = static_cast<u32>(std::min(least + deeper, columns_ / 2));
  const auto end = std::max(find_line_break(line, least, fits), first_bytes(line));
  put(fitted, line.substr(0, line.find_last_not_of(' ', end - 1) + 1));
  const auto color = open_color(line.substr(0, end));
  if (!color.empty()) fitted.append(no_color);
  // A name that begins below is as far in as it is in its tree, whatever is in front of it.
  const auto next = taken_ + std::min(line.find_first_not_of(' ', end), line.size());
  constexpr std::size_t first_depth = 8;
  if (tree_column_ > 0 && taken_ < tree_column_ && next >= tree_column_)
    indent_ = static_cast<u32>(std::min(first_depth + next - tree_column_, columns_ / 2));
  taken_ += end;
  line_.replace(0, end, color);
  is_below_ = true;
  return true;
}

void FittedLines::put(core::TextBuffer& fitted, std::string_view text) const {
  if (is_below_) {
    fitted.append('\n');
    fitted.append(std::string(indent_, ' '));
  }
  fitted.append(text);
}

}  // namespace coldtrace::cli
