#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/findings.hpp"
#include "pe/identity.hpp"
#include "syscall-map/confidence.hpp"
#include "syscall-map/context_switch.hpp"
#include "syscall-map/service_tables.hpp"
#include "syscall-map/services_tab.hpp"
#include "syscall-map/supported_interfaces.hpp"
#include "syscall-map/thread_offsets.hpp"
#include "syscall-map/trace_point.hpp"

namespace coldtrace::syscall_map {

// What an image is in a build of Windows.
enum class ImageRole : u8 { kernel, ntdll, win32u, win32k, win32kbase, win32kfull };

std::string_view to_string(ImageRole role);

// An image that a table was made from.
struct HookTableImage {
  ImageRole role = ImageRole::kernel;
  std::string path;
  pe::Identity identity;
  std::optional<std::string> sha256;  // lower-case hex
};

// A system service of one build, from all images of it together.
struct HookService {
  u16 number = 0;
  ServiceTable table = ServiceTable::nt;
  std::vector<std::string> names;     // NtX first; none where no image names it
  std::optional<ImageRole> image;     // that the target is in
  std::optional<pe::Rva> target;      // the function that does the work
  std::optional<u32> argument_bytes;  // all of them; nothing where only those on the stack are
                                      // known
  std::optional<u32> stack_argument_bytes;  // x64: those behind the first four
  std::optional<u32> name_hash;             // of KiServicesTab
  std::vector<std::string> evidence;
  Confidence confidence = Confidence::low;
  bool verified = false;
};

struct HookServiceTable {
  ImageRole image = ImageRole::kernel;
  LocatedServiceTable table;
};

// What a live tracer needs to know of one build of Windows in order to hook it, or not to.
struct HookTable {
  std::vector<HookTableImage> images;  // by role
  std::vector<HookService> services;   // by number
  std::vector<HookServiceTable> service_tables;
  std::optional<ServicesTab> services_tab;
  ContextSwitchSearch context_switch;
  ThreadOffsets thread_offsets;
  std::vector<SupportedInterface> supported_interfaces;
  std::vector<TracePoint> trace_points;  // those that were asked for, in that order
  core::Findings findings;
};

}  // namespace coldtrace::syscall_map
