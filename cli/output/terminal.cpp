#include "cli/output/terminal.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output/output.hpp"

namespace coldtrace::cli {
namespace {

std::optional<std::size_t>& kept_columns() {
  static std::optional<std::size_t> columns;
  return columns;
}

// What a shell or user says of it; none if that is not a width.
std::optional<std::size_t> columns_of_environment() {
  const char* const value = std::getenv("COLUMNS");
  const std::string_view text{value != nullptr ? value : ""};
  unsigned short columns = 0;  // as large as what a terminal can say itself
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc{} || end != text.data() + text.size() || columns == 0) return std::nullopt;
  return columns;
}

std::size_t columns_of(int descriptor) {
  constexpr std::size_t where_none_is_known = 80;
  ::winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  return columns_of_environment().value_or(where_none_is_known);
}

}  // namespace

bool is_shown_on_terminal(const OutputOptions& output) {
  return output.is_standard() && (kept_columns() || ::isatty(STDOUT_FILENO) == 1);
}

std::size_t terminal_columns() {
  return kept_columns() ? *kept_columns() : columns_of(STDOUT_FILENO);
}

std::size_t message_columns() {
  return columns_of(STDERR_FILENO);
}

void keep_terminal() {
  if (::isatty(STDOUT_FILENO) == 1) kept_columns() = terminal_columns();
}

}  // namespace coldtrace::cli
