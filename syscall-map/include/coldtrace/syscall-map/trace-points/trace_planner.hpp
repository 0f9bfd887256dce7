#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// What names the code of a kernel beside its exports.
struct TracePlanNames {
  const std::vector<NamedPlace>& symbols;    // of the matching PDB, if any
  const std::vector<HookService>& services;  // as far as they are known
};

// Whether `text` can be asked for: "NtClose", "NtClose+0x12", "Nt*", "0x1234" or "4660".
[[nodiscard]] bool is_trace_request(std::string_view text);

// Whether an export or a symbol has each name that is asked for: what services say of names does
// not matter then.
bool has_trace_names(const pe::ImageTables& tables, std::span<const std::string> requests,
                     const std::vector<NamedPlace>& symbols);

// A trace point for each request, and for each function that a glob means, in their order: there is
// one trace point for an address and one for a function, so that of two the first counts. What is
// refused, is relocated or has no proved boundary is a finding. Source: "Dynamic Tracing in Windows
// 10 19H1", "Trace Points".
[[nodiscard]] std::vector<TracePoint> plan_trace_points(const pe::ImageTables& tables,
                                                        std::span<const std::string> requests,
                                                        const TracePlanNames& names,
                                                        core::Findings& findings);

// The requests that points were planned for.
[[nodiscard]] std::vector<std::string> trace_requests(const std::vector<TracePoint>& points);

}  // namespace coldtrace::syscall_map
