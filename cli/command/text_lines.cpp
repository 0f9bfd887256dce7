#include "cli/command/text_lines.hpp"

#include <algorithm>
#include <span>

namespace coldtrace::cli {

bool TextLines::next(std::string& line) {
  line.clear();
  too_long_ = false;
  start_ = end_;
  for (;;) {
    const auto rest = std::string_view{chunk_}.substr(at_);
    const auto end = rest.find('\n');
    const auto piece = rest.substr(0, end);
    end_ += piece.size();
    too_long_ |= piece.size() > longest_text_line - line.size();
    if (too_long_)
      line.clear();
    else
      line += piece;
    if (end != std::string_view::npos) {
      at_ += end + 1;
      ++end_;
      return true;
    }
    if (!fill()) return !line.empty() || too_long_;
  }
}

bool TextLines::fill() {
  const auto wanted = std::min<u64>(std::size_t{1} << 20, file_.size() - offset_);
  chunk_.resize(static_cast<std::size_t>(wanted));
  at_ = 0;
  if (wanted == 0) return false;
  const auto bytes = std::as_writable_bytes(std::span{chunk_});
  if (const auto done = file_.read_at(offset_, bytes); !done) {
    error_ = done.error();
    chunk_.resize(core::read_before_error(file_, offset_, bytes));
    offset_ = file_.size();
    return !chunk_.empty();
  }
  offset_ += wanted;
  return true;
}

}  // namespace coldtrace::cli
