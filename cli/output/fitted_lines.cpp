#include "cli/output/fitted_lines.hpp"

#include <algorithm>

#include "cli/output/character_set.hpp"
#include "coldtrace/core/display_width.hpp"

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

}  // namespace

void FittedLines::append(core::TextBuffer& fitted, std::string_view text) {
  // Some bytes for each column: characters have up to four, and others may be drawn over them.
  const std::size_t longest = (columns_ + 1) * 16;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto piece = text.substr(0, end);
    const auto room = longest - std::min(longest, line_.size());
    cut_ = cut_ || piece.size() > room;
    line_.append(piece.substr(0, room));
    if (end == std::string_view::npos) return;
    finish(fitted);
    fitted.append('\n');
    text.remove_prefix(end + 1);
  }
}

void FittedLines::finish(core::TextBuffer& fitted) {
  if (fitting_bytes(line_, columns_) == line_.size() && !cut_) {
    fitted.append(line_);
  } else {
    const auto last = columns_ - std::min<std::size_t>(columns_, 1);
    const auto front = std::string_view{line_}.substr(0, fitting_bytes(line_, last));
    fitted.append(front);
    fitted.append(ellipsis());
    const auto color = front.rfind(escape);
    if (color != front.npos && !front.substr(color).starts_with(no_color)) fitted.append(no_color);
  }
  line_.clear();
  cut_ = false;
}

}  // namespace coldtrace::cli
