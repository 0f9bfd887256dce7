#include "cli/layout/wrapped_line.hpp"

#include <string>

#include "cli/output/fitted_lines.hpp"
#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {
namespace {

// Where a line ends that is longer than what has room: the bytes of it, without the blank behind.
std::size_t break_of(std::string_view line, std::size_t indent, std::size_t columns) {
  const auto fits = core::fitting_front(line, columns).size();
  return fits == line.size() || fits <= indent ? line.size() : find_line_break(line, indent, fits);
}

}  // namespace

void write_wrapped(Output& output, std::string_view line, std::size_t indent) {
  const auto columns = output.columns();
  const auto end_of_text = line.find_last_not_of(' ');
  std::string rest{columns > 0 ? line.substr(0, end_of_text + 1) : line};
  auto least = rest.find_first_not_of(' ');
  while (columns > indent && least != rest.npos) {
    const auto end = break_of(rest, least, columns);
    const auto next = rest.find_first_not_of(' ', end);
    if (next == rest.npos) break;
    output.write(rest.substr(0, rest.find_last_not_of(' ', end - 1) + 1));
    output.write("\n");
    rest = std::string(indent, ' ') + rest.substr(next);
    least = indent;
  }
  output.write(rest);
  output.write("\n");
}

}  // namespace coldtrace::cli
