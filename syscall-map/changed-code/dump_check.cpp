#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::jump:
      return "jump";
    case ChangeKind::call:
      return "call";
    case ChangeKind::breakpoint:
      return "breakpoint";
    case ChangeKind::nop:
      return "nop";
    case ChangeKind::returns:
      return "return";
    case ChangeKind::code:
      return "code";
    case ChangeKind::data:
      return "data";
  }
  return "data";
}

std::string_view to_string(ChangedFunction::Source source) {
  switch (source) {
    case ChangedFunction::Source::exports:
      return "export";
    case ChangedFunction::Source::pdb:
      return "pdb";
    case ChangedFunction::Source::unwind_table:
      return "unwind_table";
    case ChangedFunction::Source::hook_point:
      return "hook_point";
  }
  return "export";
}

std::string_view to_string(ServiceValue value) {
  switch (value) {
    case ServiceValue::base:
      return "base";
    case ServiceValue::limit:
      return "limit";
    case ServiceValue::arguments:
      return "arguments";
    case ServiceValue::argument_bytes:
      return "argument_bytes";
  }
  return "base";
}

std::string_view to_string(PointState state) {
  switch (state) {
    case PointState::clean:
      return "clean";
    case PointState::changed:
      return "changed";
    case PointState::absent:
      return "absent";
  }
  return "clean";
}

}  // namespace coldtrace::syscall_map
