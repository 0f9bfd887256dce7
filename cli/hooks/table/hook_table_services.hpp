#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/hooks/profile_file.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// Keeps only the services that one of the profiles selects; the number of others is a build's
// finding `services-left-out`. Returns for each profile its path and what it names that is in no
// build. Everything else in a table stays as it is.
std::vector<std::pair<std::string, core::Findings>> keep_selected_services(
    const std::vector<syscall_map::HookProfile>& profiles,
    std::span<syscall_map::HookTable> builds);

}  // namespace coldtrace::cli
