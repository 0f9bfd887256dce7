#include "coldtrace/tracefile/events/header_type.hpp"

namespace coldtrace::tracefile {

std::string_view to_string(HeaderType type) {
  switch (type) {
    case HeaderType::system32:
      return "system32";
    case HeaderType::system64:
      return "system64";
    case HeaderType::compact32:
      return "compact32";
    case HeaderType::compact64:
      return "compact64";
    case HeaderType::full32:
      return "full32";
    case HeaderType::instance32:
      return "instance32";
    case HeaderType::timed:
      return "timed";
    case HeaderType::error:
      return "error";
    case HeaderType::wnode:
      return "wnode";
    case HeaderType::message:
      return "message";
    case HeaderType::perfinfo32:
      return "perfinfo32";
    case HeaderType::perfinfo64:
      return "perfinfo64";
    case HeaderType::event32:
      return "event32";
    case HeaderType::event64:
      return "event64";
    case HeaderType::full64:
      return "full64";
    case HeaderType::instance64:
      return "instance64";
  }
  return "none";
}

}  // namespace coldtrace::tracefile
