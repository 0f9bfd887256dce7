#include "coldtrace/syscall-map/trace-points/trace_emulation.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(BranchKind kind) {
  switch (kind) {
    case BranchKind::none:
      return "none";
    case BranchKind::conditional:
      return "conditional";
    case BranchKind::jump:
      return "jump";
    case BranchKind::call:
      return "call";
    case BranchKind::ret:
      return "return";
  }
  return "";
}

std::string_view to_string(EmulatorSupport support) {
  return support == EmulatorSupport::known ? "known" : "unknown";
}

}  // namespace coldtrace::syscall_map
