#include "coldtrace/trace_analysis/records.hpp"

#include "tracefile/providers/kernel_values.hpp"

namespace coldtrace::trace_analysis {
namespace {

std::string_view find_value(const tracefile::ValueMap& map, u64 value) {
  for (const auto& entry : map.entries)
    if (entry.value == value) return entry.text;
  return {};
}

}  // namespace

std::string_view wait_reason_name(u8 reason) {
  static const auto names = tracefile::find_kernel_values("WaitReason");
  return find_value(*names, reason);
}

std::string_view to_string(ThreadState state) {
  static const auto names = tracefile::find_kernel_values("ThreadState");
  return find_value(*names, static_cast<u8>(state));
}

}  // namespace coldtrace::trace_analysis
