#include "coldtrace/trace_analysis/findings/logging_needs.hpp"

namespace coldtrace::trace_analysis {

std::string_view to_string(Topic topic) {
  switch (topic) {
    case Topic::processor:
      return "processor";
    case Topic::disk:
      return "disk";
    case Topic::file_operations:
      return "file_operations";
    case Topic::network:
      return "network";
    case Topic::waits:
      return "waits";
    case Topic::services:
      break;
  }
  return "services";
}

// Source: EVENT_TRACE_PROPERTIES (Windows SDK, evntrace.h), EnableFlags;
// docs/formats/seed-events.md.
std::vector<std::string_view> logging_needs(Topic topic, const tracefile::AnyTrace& trace) {
  const bool is_etl = trace.etl() != nullptr;
  using Needs = std::vector<std::string_view>;
  switch (topic) {
    case Topic::processor:
      return is_etl ? Needs{"CSWITCH", "PROFILE", "DPC", "INTERRUPT"} : Needs{"wmk", "vtrace"};
    case Topic::disk:
      return is_etl ? Needs{"DISK_IO"} : Needs{"vtrace"};
    case Topic::file_operations:
      return is_etl ? Needs{"FILE_IO_INIT", "FILE_IO"} : Needs{"vtrace"};
    case Topic::network:
      return is_etl ? Needs{"NETWORK_TCPIP"} : Needs{"vtrace"};
    case Topic::waits:
      return is_etl ? Needs{"CSWITCH", "DISPATCHER"} : Needs{"wmk", "vtrace"};
    case Topic::services:
      break;
  }
  return is_etl ? Needs{"SYSTEMCALL", "DPC", "INTERRUPT"}
                : Needs{"wmk", "vtrace", "dynamic_tracing", "vxdmon"};
}

}  // namespace coldtrace::trace_analysis
