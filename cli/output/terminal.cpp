#include "cli/output/terminal.hpp"

#include <optional>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output/output.hpp"

namespace coldtrace::cli {
namespace {

std::optional<std::size_t>& kept_columns() {
  static std::optional<std::size_t> columns;
  return columns;
}

}  // namespace

bool is_shown_on_terminal(const OutputOptions& output) {
  return output.is_standard() && (kept_columns() || ::isatty(STDOUT_FILENO) == 1);
}

std::size_t terminal_columns() {
  constexpr std::size_t without_terminal = 80;
  if (kept_columns()) return *kept_columns();
  ::winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return without_terminal;
  return size.ws_col;
}

void keep_terminal() {
  if (::isatty(STDOUT_FILENO) == 1) kept_columns() = terminal_columns();
}

}  // namespace coldtrace::cli
