#include "tracefile/fields/event_name.hpp"

#include "coldtrace/tracefile/fields/provider_names.hpp"

namespace coldtrace::tracefile {

std::string event_name_of(std::string_view task, std::string_view opcode) {
  std::string name{without_prefix(task)};
  if (opcode.empty() || opcode == "win:Info") return name;
  if (!name.empty()) name += '/';
  return name += without_prefix(opcode);
}

}  // namespace coldtrace::tracefile
