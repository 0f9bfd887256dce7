#include "cli/sandbox/system_calls.hpp"

namespace coldtrace::cli {

bool has_system_call_filter() {
  return false;
}

bool kernel_takes_filters() {
  return false;
}

bool filter_system_calls(const SystemCallNeeds&) {
  return false;
}

}  // namespace coldtrace::cli
