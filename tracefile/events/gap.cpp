#include "coldtrace/tracefile/events/gap.hpp"

namespace coldtrace::tracefile {

std::string_view to_string(Gap::Reason reason) {
  switch (reason) {
    case Gap::Reason::events_lost:
      return "events_lost";
    case Gap::Reason::buffers_lost:
      return "buffers_lost";
    case Gap::Reason::damaged:
      return "damaged";
    case Gap::Reason::unreadable:
      return "unreadable";
    case Gap::Reason::not_a_buffer:
      return "not_a_buffer";
    case Gap::Reason::buffers_missing:
      return "buffers_missing";
    case Gap::Reason::not_unpacked:
      return "not_unpacked";
    case Gap::Reason::entries_torn:
      return "entries_torn";
  }
  return "unknown";
}

}  // namespace coldtrace::tracefile
