#include "coldtrace/trace_analysis/function_names.hpp"

#include <fmt/format.h>

namespace coldtrace::trace_analysis {

std::string FunctionName::text() const {
  return offset == 0 ? function : fmt::format("{}+{:#x}", function, offset);
}

FunctionName ImageOffsets::find(std::optional<u32> pid, u64 address, i64 time) {
  return {names_.name_address(pid, address, time), 0};
}

}  // namespace coldtrace::trace_analysis
