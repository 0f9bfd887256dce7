#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// Adds a build, unless one of the same kernel is there. That one is kept: `image-twice` where both
// say the same, `build-conflict` where not. A plan is of who made it, not of the build: either may
// lack one.
void add_build(std::vector<HookTable>& builds, HookTable build, core::Findings& findings);

}  // namespace coldtrace::syscall_map
