#include "cli/trace/analysis/top/page_text.hpp"

#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::string_view dots = "...";

}  // namespace

std::string end_of(const std::string& text, std::size_t width) {
  if (core::display_width(text) <= width) return text;
  return std::string{dots}.append(core::fitting_end(text, width - dots.size()));
}

std::string start_of(const std::string& text, std::size_t width) {
  if (core::display_width(text) <= width) return text;
  return std::string{core::fitting_front(text, width - dots.size())}.append(dots);
}

}  // namespace coldtrace::cli
