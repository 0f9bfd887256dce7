#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"
#include "coldtrace/syscall-map/trace-points/trace_facility.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// Trace points of a kernel, and the kernel's own means to set them.
struct TracePlan {
  std::string pdb;  // path of the PDB that belongs to the kernel; empty without one
  TraceFacility facility;
  std::vector<SupportedInterface> interfaces;  // those that set trace points
  std::vector<TracePoint> points;
  core::Findings findings;  // of the kernel
  core::Findings ntdll_findings;
};

// A point for each request as plan_trace_points() makes them, for a kernel with what its hook table
// has: services that give names, and interfaces. Findings of the table are not included.
[[nodiscard]] TracePlan make_trace_plan(const KernelView& kernel, const KernelSymbols& symbols,
                                        const HookTable& table,
                                        std::span<const std::string> requests);

// The same without the rest of a hook table. The kernel is the first of the sources; services get
// names also from ntdll, if that is one. What the search for services finds counts only if a
// request is no name of an export or a symbol. Findings about opening the images are not included.
[[nodiscard]] TracePlan make_trace_plan(std::span<const HookTableSource> sources,
                                        std::span<pe::SymbolFile> symbols,
                                        std::span<const std::string> requests);

}  // namespace coldtrace::syscall_map
