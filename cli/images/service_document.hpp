#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/syscall-map/service_list.hpp"
#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::cli {

// What the JSON of "syscalls map" or of "hooks table" says of services.
struct ServiceDocument {
  // Of one image of a map, or one build of a table.
  struct Part {
    tracefile::TracedImage image;  // nothing known in a table
    std::vector<syscall_map::DocumentedService> services;
  };
  bool is_map = false;
  std::vector<Part> parts;
};

// Nothing when the file cannot be read, has more than 64 MiB or is neither of the two, which
// `report` says.
std::optional<ServiceDocument> read_service_document(const std::string& path, Report& report);

}  // namespace coldtrace::cli
