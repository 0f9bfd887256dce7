// Any text as a member list: its error lies inside of it, or it is printed and read back the same,
// and what it asks for with the built-in lists is each name once, in the kinds that it says.

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::syscall_map;

// In quotes, which have no escapes: a name has none in it.
std::string printed(const MemberRequest& request) {
  std::string text = request.optional ? "optional " : "";
  text += fmt::format("{} \"{}\" = ", to_string(request.kind), request.name);
  for (const auto& alternative : request.alternatives)
    text += fmt::format("{}\"{}\"", &alternative == &request.alternatives.front() ? "" : " | ",
                        alternative);
  return text + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = core::to_chars(std::as_bytes(std::span{data, size}));
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  const auto check_place = [&](const core::TextError& error) {
    if (error.line > lines || error.column > size + 1) __builtin_trap();
  };
  const auto file = parse_member_list(text);
  if (!file) {
    check_place(file.error());
    return 0;
  }
  const MemberListSource source{"fuzz", std::string{text}};
  const auto requests = read_member_lists({&source, 1});
  if (!requests) {
    if (requests.error().path == "fuzz") check_place(requests.error().error);
    return 0;
  }
  std::set<std::string> names;
  std::string again;
  for (const auto& request : *requests) {
    if (!names.insert(request.name).second || request.alternatives.empty()) __builtin_trap();
    again += printed(request);
  }
  if (again.size() > largest_member_list) return 0;
  const MemberListSource second{"again", again};
  const auto same = read_member_lists({&second, 1});
  if (!same || *same != *requests) __builtin_trap();
  return 0;
}
