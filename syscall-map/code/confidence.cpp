#include "coldtrace/syscall-map/confidence.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::low:
      return "low";
    case Confidence::medium:
      return "medium";
    case Confidence::high:
      return "high";
  }
  return "";
}

}  // namespace coldtrace::syscall_map
