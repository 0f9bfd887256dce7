#include "cli/layout/wrapped_line.hpp"

#include <string>

#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {
namespace {

// Where a line ends that is longer than what has room: the bytes of it, without the blank behind.
std::size_t break_of(std::string_view line, std::size_t indent, std::size_t columns) {
  const auto front = core::fitting_front(line, columns);
  if (front.size() == line.size()) return line.size();
  const auto searched = line.substr(0, front.size() + 1);
  for (const std::string_view mark : {", ", " "}) {
    const auto at = searched.rfind(mark);
    if (at != searched.npos && at > indent) return at + mark.size() - 1;
  }
  return line.size();
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
