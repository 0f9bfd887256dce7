#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/rva.hpp"
#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/image_role.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// A system service of one build, combined from all its images.
struct HookService {
  u16 number = 0;
  ServiceTable table = ServiceTable::nt;
  std::vector<std::string> names;     // NtX first; empty if no image names it
  std::optional<ImageRole> image;     // that contains the target
  std::optional<pe::Rva> target;      // the function that implements the service
  std::optional<u32> argument_bytes;  // all of them; nothing if only those on the stack are known
  std::optional<u32> stack_argument_bytes;  // x64: those after the first four
  std::optional<u32> name_hash;             // of KiServicesTab
  std::vector<std::string> evidence;
  Confidence confidence = Confidence::low;
  bool verified = false;
};

}  // namespace coldtrace::syscall_map
