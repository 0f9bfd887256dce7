#include "tracefile/fields/event_name.hpp"

namespace coldtrace::tracefile {
namespace {

std::string_view without_prefix(std::string_view name) {
  constexpr std::string_view predefined = "win:";
  if (name.starts_with(predefined)) name.remove_prefix(predefined.size());
  return name;
}

}  // namespace

std::string event_name_of(std::string_view task, std::string_view opcode) {
  std::string name{without_prefix(task)};
  if (opcode.empty() || opcode == "win:Info") return name;
  if (!name.empty()) name += '/';
  return name += without_prefix(opcode);
}

}  // namespace coldtrace::tracefile
