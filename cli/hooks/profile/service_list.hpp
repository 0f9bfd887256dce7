#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_catalogue.hpp"

namespace coldtrace::cli {

// The services of all files together: system call maps and hook tables as JSON, binary hook tables,
// PE images with stubs, and lists of names, which are profiles without groups, globs, includes and
// exclusions. Nothing if no file could be read; `report` says what each is instead.
std::optional<syscall_map::ServiceCatalogue> read_service_lists(
    const std::vector<std::string>& paths, Report& report);

}  // namespace coldtrace::cli
