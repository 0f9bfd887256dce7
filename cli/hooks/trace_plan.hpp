#pragma once

#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "coldtrace/syscall-map/table-assembly/trace_plan.hpp"
#include "coldtrace/syscall-map/trace-points/trace_driver.hpp"

namespace coldtrace::cli {

// A driver that a trace point calls back.
struct TraceDriver {
  std::string path;
  HashedIdentity identity;
  syscall_map::TraceDriverCheck check;
  core::Findings findings;
};

// What `hooks plan` shows; docs/commands/trace-points.md describes it.
struct TracePlan : syscall_map::TracePlan {
  std::string path;  // of the kernel
  HashedIdentity identity;
  std::vector<TraceDriver> drivers;
  std::string ntdll;  // its path; empty: none was given
};

void write_trace_plan_text(Output& output, const TracePlan& plan);
void write_trace_plan_json(Output& output, Int64 int64, const TracePlan& plan);

// Only the points, as they are also in hook tables.
void write_trace_points_text(Output& output, const std::vector<syscall_map::TracePoint>& points);
void write_trace_points(JsonWriter& json, const std::vector<syscall_map::TracePoint>& points);

}  // namespace coldtrace::cli
