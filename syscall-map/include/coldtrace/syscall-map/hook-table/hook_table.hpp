#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/member_value.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"
#include "coldtrace/syscall-map/services_tab.hpp"
#include "coldtrace/syscall-map/supported_interfaces.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// An image from which a table was made.
struct HookTableImage {
  ImageRole role = ImageRole::kernel;
  std::string path;
  pe::Identity identity;
  std::optional<std::string> sha256;  // lower-case hex
  core::Findings findings = {};       // the kernel's are in the table
};

// A service table, and the image that contains it.
struct HookServiceTable {
  ImageRole image = ImageRole::kernel;
  LocatedServiceTable table;
};

// What a live tracer needs to know about one build of Windows to decide what to hook.
struct HookTable {
  std::vector<HookTableImage> images;  // by role
  std::vector<HookService> services;   // by number
  std::vector<HookServiceTable> service_tables;
  std::optional<ServicesTab> services_tab;
  ContextSwitchSearch context_switch;
  ThreadOffsets thread_offsets;
  std::vector<SupportedInterface> supported_interfaces;
  std::vector<TracePoint> trace_points;  // in the order requested
  std::vector<MemberValue> members;      // the same
  core::Findings findings;
};

}  // namespace coldtrace::syscall_map
