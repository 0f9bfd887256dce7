#include "cli/output/fitted_lines.hpp"

#include <algorithm>

#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {

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
  const auto front = core::fitting_front(line_, columns_);
  if (front.size() == line_.size() && !cut_) {
    fitted.append(line_);
  } else {
    fitted.append(core::fitting_front(line_, columns_ - std::min<std::size_t>(columns_, 1)));
    fitted.append("…");
  }
  line_.clear();
  cut_ = false;
}

}  // namespace coldtrace::cli
