#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// Adds a build, unless one with the same kernel is there, which is kept: `image-twice` if both are
// equal, `build-conflict` if not. Trace points depend on who planned them, not on the build: either
// may lack them.
void add_build(std::vector<HookTable>& builds, HookTable build, core::Findings& findings);

}  // namespace coldtrace::syscall_map
