#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::cli {

// A PE image with its services; the findings of reading the image are among the map's.
struct MappedImage {
  std::string path;
  HashedIdentity identity;
  syscall_map::ServiceMap map;
};

// Reads and maps the file at `path`; `report` only gets the reason if there is no result. Stubs
// without a name are not yet a finding.
std::optional<MappedImage> open_mapped_image(const std::string& path, const PeOptions& options,
                                             Report& report);

// Reads and maps the file at `path`; `report` gets the findings, or the reason if there is no
// result.
std::optional<MappedImage> map_image(const std::string& path, const PeOptions& options,
                                     Report& report);

// The same for all files in the options, with their number of jobs; returns those that are images.
std::vector<MappedImage> map_images(const PeOptions& options, Report& report);

}  // namespace coldtrace::cli
