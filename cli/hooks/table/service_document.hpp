#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_list.hpp"

namespace coldtrace::cli {

// A file that lists services: its kind and its unpacked contents.
struct ServiceListFile {
  syscall_map::ServiceListKind kind = syscall_map::ServiceListKind::names;
  std::vector<std::byte> bytes;  // none for an image, which is read in parts
};

// Nothing, and a report, if the file cannot be read or unpacked, or is packed and not a list.
std::optional<ServiceListFile> read_service_list_file(const std::string& path, Report& report);

// The services in the JSON of "syscalls map" or "hooks table".
struct ServiceDocument {
  // One image of a map, or one build of a table.
  struct Part {
    pe::Identity image;  // unknown in a table
    std::vector<syscall_map::DocumentedService> services;
  };
  bool is_map = false;
  std::vector<Part> parts;
};

// Nothing, and a report, if the file, which has these bytes, is neither of the two.
std::optional<ServiceDocument> read_service_document(const std::string& path,
                                                     const std::vector<std::byte>& bytes,
                                                     Report& report);

}  // namespace coldtrace::cli
