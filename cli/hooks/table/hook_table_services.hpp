#pragma once

#include <span>

#include "cli/hooks/profile_file.hpp"
#include "coldtrace/syscall-map/hook_table.hpp"

namespace coldtrace::cli {

// Keeps of the builds' services those that the profile selects; how many others there were is a
// build's finding `services-left-out`. What the profile has that is in none of the builds is
// returned. All else of a table stays as it is.
core::Findings keep_selected_services(const syscall_map::HookProfile& profile,
                                      std::span<syscall_map::HookTable> builds);

}  // namespace coldtrace::cli
