#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// Names for the code of a kernel in addition to its exports.
struct TracePlanNames {
  core::Borrowed<std::vector<NamedPlace>> symbols;    // of the matching PDB, if any
  core::Borrowed<std::vector<HookService>> services;  // as far as known
};

// Whether `text` is a valid request: "NtClose", "NtClose+0x12", "Nt*", "0x1234" or "4660".
[[nodiscard]] bool is_trace_request(std::string_view text);

// Whether an export or a symbol has each requested name: the names of services are then not needed.
bool has_trace_names(const pe::ImageTables& tables, std::span<const std::string> requests,
                     const std::vector<NamedPlace>& symbols);

// A trace point for each request, and for each function that matches a glob, in their order. There
// is one trace point per address and one per function, so of two the first is kept. Findings report
// what is refused, is relocated or has no proved boundary. Source: "Dynamic Tracing in Windows 10
// 19H1", "Trace Points".
[[nodiscard]] std::vector<TracePoint> plan_trace_points(const pe::ImageTables& tables,
                                                        std::span<const std::string> requests,
                                                        const TracePlanNames& names,
                                                        core::Findings& findings);

// The requests for which points were planned.
[[nodiscard]] std::vector<std::string> trace_requests(const std::vector<TracePoint>& points);

}  // namespace coldtrace::syscall_map
