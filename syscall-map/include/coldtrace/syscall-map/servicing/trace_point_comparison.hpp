#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/stubs/kernel_view.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// Whether there may be a trace point at an exported function of a kernel, whatever others there
// are.
struct TraceablePlace {
  pe::Rva rva{};
  std::vector<TraceRefusal> refusals;  // none: there may be

  [[nodiscard]] bool eligible() const { return refusals.empty(); }
};

// A function at which the kernel's tracing admits a point in one build and not in the other, or
// refuses it for another reason.
struct TraceableChange {
  std::string name;
  TraceablePlace before, after;
};

// Where the kernels of two builds admit trace points.
struct TracePointComparison {
  u64 before = 0, after = 0;             // functions where there may be one
  u64 refused = 0, admitted = 0;         // those of both that may no longer, or now may
  std::vector<TraceableChange> changes;  // of both, where the refusals differ; by name
};

// Nothing where instructions of the machine are not decoded. Source: as plan_trace_points.
[[nodiscard]] std::optional<TracePointComparison> compare_trace_points(const KernelView& before,
                                                                       const KernelView& after);

}  // namespace coldtrace::syscall_map
