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
  std::vector<std::byte> bytes;  // empty for an image: its reader asks for parts of it
};

// Nothing if the file cannot be read or unpacked, or is packed and not a list, which `report` says.
std::optional<ServiceListFile> read_service_list_file(const std::string& path, Report& report);

// What the JSON of "syscalls map" or of "hooks table" says about services.
struct ServiceDocument {
  // One image of a map, or one build of a table.
  struct Part {
    pe::Identity image;  // unknown in a table
    std::vector<syscall_map::DocumentedService> services;
  };
  bool is_map = false;
  std::vector<Part> parts;
};

// Nothing if the file with these bytes is neither of the two, which `report` says.
std::optional<ServiceDocument> read_service_document(const std::string& path,
                                                     const std::vector<std::byte>& bytes,
                                                     Report& report);

}  // namespace coldtrace::cli
