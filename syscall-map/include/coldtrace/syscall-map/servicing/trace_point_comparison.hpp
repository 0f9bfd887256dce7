#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/stubs/kernel_view.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// Whether a trace point is possible at an exported function of a kernel, regardless of others.
struct TraceablePlace {
  pe::Rva rva{};
  std::vector<TraceRefusal> refusals;  // empty: a trace point is possible

  [[nodiscard]] bool eligible() const { return refusals.empty(); }
};

// A function where the kernel's tracing allows a point in one build and not in the other, or
// refuses it for another reason.
struct TraceableChange {
  std::string name;
  TraceablePlace before, after;
};

// Where the kernels of two builds allow trace points.
struct TracePointComparison {
  u64 before = 0, after = 0;      // functions where one is possible
  u64 refused = 0, admitted = 0;  // functions in both that no longer allow, or now allow, one
  std::vector<TraceableChange> changes;  // in both, if the refusals differ; by name
};

// Nothing if instructions of the machine are not decoded. Source: as for plan_trace_points.
[[nodiscard]] std::optional<TracePointComparison> compare_trace_points(const KernelView& before,
                                                                       const KernelView& after);

}  // namespace coldtrace::syscall_map
