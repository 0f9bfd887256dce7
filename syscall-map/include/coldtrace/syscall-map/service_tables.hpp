#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/service_table.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// The service tables of an image.
struct ServiceTables {
  std::vector<LocatedServiceTable> tables;  // by RVA
  core::Findings findings;
};

// The service tables of a kernel or a win32k image. A kernel without one, such as Wine's, is the
// finding `no-service-table`; if two places could each be the table, both are given.
[[nodiscard]] ServiceTables find_service_tables(const KernelView& view);

}  // namespace coldtrace::syscall_map
