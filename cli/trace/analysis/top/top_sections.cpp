#include "cli/trace/analysis/top/top_sections.hpp"

namespace coldtrace::cli {

std::string_view to_string(TopSection section) {
  switch (section) {
    case TopSection::processor:
      return "processor";
    case TopSection::disk:
      return "disk";
    case TopSection::file_operations:
      return "file_operations";
    case TopSection::network:
      return "network";
    case TopSection::waits:
      return "waits";
    case TopSection::services:
    case TopSection::count:
      break;
  }
  return "services";
}

std::string_view title_of(TopSection section) {
  switch (section) {
    case TopSection::processor:
      return "Processor";
    case TopSection::disk:
      return "Disk";
    case TopSection::file_operations:
      return "Files";
    case TopSection::network:
      return "Network";
    case TopSection::waits:
      return "Waits";
    case TopSection::services:
    case TopSection::count:
      break;
  }
  return "Services";
}

std::string_view subject_of(TopSection section) {
  switch (section) {
    case TopSection::processor:
      return "context switches, samples or interrupts";
    case TopSection::disk:
      return "requests to disks";
    case TopSection::file_operations:
      return "file operations";
    case TopSection::network:
      return "bytes over the network";
    case TopSection::waits:
      return "waits";
    case TopSection::services:
    case TopSection::count:
      break;
  }
  return "calls of services";
}

std::vector<std::string_view> commands_of(TopSection section) {
  switch (section) {
    case TopSection::processor:
      return {"trace cpu", "trace schedule"};
    case TopSection::disk:
    case TopSection::file_operations:
    case TopSection::network:
      return {"trace io"};
    case TopSection::waits:
      return {"trace graph wait-for", "trace deadlocks"};
    case TopSection::services:
    case TopSection::count:
      break;
  }
  return {"trace services"};
}

// Source: EVENT_TRACE_PROPERTIES (Windows SDK, evntrace.h), EnableFlags;
// docs/formats/seed-events.md.
std::vector<std::string_view> needs_of(TopSection section, const tracefile::AnyTrace& trace) {
  const bool is_etl = trace.etl() != nullptr;
  using Needs = std::vector<std::string_view>;
  switch (section) {
    case TopSection::processor:
      return is_etl ? Needs{"CSWITCH", "PROFILE", "DPC", "INTERRUPT"} : Needs{"wmk", "vtrace"};
    case TopSection::disk:
      return is_etl ? Needs{"DISK_IO"} : Needs{"vtrace"};
    case TopSection::file_operations:
      return is_etl ? Needs{"FILE_IO_INIT", "FILE_IO"} : Needs{"vtrace"};
    case TopSection::network:
      return is_etl ? Needs{"NETWORK_TCPIP"} : Needs{"vtrace"};
    case TopSection::waits:
      return is_etl ? Needs{"CSWITCH", "DISPATCHER"} : Needs{"wmk", "vtrace"};
    case TopSection::services:
    case TopSection::count:
      break;
  }
  return is_etl ? Needs{"SYSTEMCALL", "DPC", "INTERRUPT"}
                : Needs{"wmk", "vtrace", "dynamic_tracing", "vxdmon"};
}

}  // namespace coldtrace::cli
