#include "coldtrace/trace_analysis/function_names.hpp"

namespace coldtrace::trace_analysis {

std::string ImageOffsets::find(std::optional<u32> pid, u64 address, i64 time) const {
  return names_.name_address(pid, address, time);
}

}  // namespace coldtrace::trace_analysis
