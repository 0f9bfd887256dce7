#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// Kernels have one Zw stub for every service, in order and at a fixed distance (20 bytes on x86, 32
// on x64), but export only some. Adds the others, without names. Images without kernel stubs stay
// as they are.
core::Findings complete_kernel_run(const pe::Image& image, std::vector<Service>& services);

}  // namespace coldtrace::syscall_map
