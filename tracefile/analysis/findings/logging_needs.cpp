#include "coldtrace/trace_analysis/findings/logging_needs.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

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

namespace {

using Names = std::vector<std::string_view>;

// Source: EVENT_TRACE_PROPERTIES (Windows SDK, evntrace.h), EnableFlags. FILE_IO has the ends of
// operations alone, FILE_IO_INIT their begin.
Names flags_of(Need need) {
  switch (need) {
    case Need::switches:
      return {"CSWITCH"};
    case Need::readied:
      return {"DISPATCHER"};
    case Need::samples:
      return {"PROFILE"};
    case Need::interrupts:
      return {"DPC", "INTERRUPT"};
    case Need::disk_requests:
      return {"DISK_IO"};
    case Need::file_operations:
      return {"FILE_IO_INIT", "FILE_IO"};
    case Need::network_transfers:
      return {"NETWORK_TCPIP"};
    case Need::calls:
      return {"SYSTEMCALL"};
    case Need::processes:
      break;
  }
  return {"PROCESS", "THREAD"};
}

// Source: docs/formats/seed-events.md.
Names sets_of(Need need) {
  switch (need) {
    case Need::switches:
    case Need::processes:
      return {"wmk", "vtrace"};
    case Need::readied:
    case Need::samples:
    case Need::interrupts:
      return {};
    case Need::disk_requests:
    case Need::file_operations:
    case Need::network_transfers:
      return {"vtrace"};
    case Need::calls:
      break;
  }
  return {"wmk", "vtrace", "dynamic_tracing", "vxdmon"};
}

std::vector<Need> needs_of(Topic topic) {
  switch (topic) {
    case Topic::processor:
      return {Need::switches, Need::samples, Need::interrupts};
    case Topic::disk:
      return {Need::disk_requests};
    case Topic::file_operations:
      return {Need::file_operations};
    case Topic::network:
      return {Need::network_transfers};
    case Topic::waits:
      return {Need::switches, Need::readied};
    case Topic::services:
      break;
  }
  return {Need::calls, Need::interrupts};
}

Names names_of(std::span<const Need> needs, const tracefile::AnyTrace& trace) {
  Names names;
  for (const auto need : needs)
    for (const auto name : trace.etl() != nullptr ? flags_of(need) : sets_of(need))
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

}  // namespace

Names logging_needs(Topic topic, const tracefile::AnyTrace& trace) {
  return names_of(needs_of(topic), trace);
}

std::string logging_hint(std::initializer_list<Need> needs, const tracefile::AnyTrace& trace) {
  if (needs.size() == 0 || trace.etl() == nullptr) return {};
  const auto flags = names_of(needs, trace);
  return fmt::format(" ({}{}{} of the kernel's flags)",
                     fmt::join(flags.begin(), flags.end() - 1, ", "),
                     flags.size() > 1 ? " and " : "", flags.back());
}

}  // namespace coldtrace::trace_analysis
