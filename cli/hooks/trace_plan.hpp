#pragma once

#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "coldtrace/syscall-map/supported_interfaces.hpp"
#include "coldtrace/syscall-map/trace-points/trace_driver.hpp"
#include "coldtrace/syscall-map/trace-points/trace_facility.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::cli {

// A driver for a trace point to call.
struct TraceDriver {
  std::string path;
  HashedIdentity identity;
  syscall_map::TraceDriverCheck check;
  core::Findings findings;
};

// What `hooks plan` shows; docs/commands/trace-points.md describes it.
struct TracePlan {
  std::string path;  // of the kernel
  HashedIdentity identity;
  std::string pdb;  // path of the kernel's own PDB; empty: none
  syscall_map::TraceFacility facility;
  std::vector<syscall_map::SupportedInterface> interfaces;
  std::vector<syscall_map::TracePoint> points;
  std::vector<TraceDriver> drivers;
  std::string ntdll;  // its path; empty: none was given
  core::Findings findings;
  core::Findings ntdll_findings;
};

void write_trace_plan_text(Output& output, const TracePlan& plan);
void write_trace_plan_json(Output& output, Int64 int64, const TracePlan& plan);

// The points only, as in hook tables.
void write_trace_points_text(Output& output, const std::vector<syscall_map::TracePoint>& points);
void write_trace_points(JsonWriter& json, const std::vector<syscall_map::TracePoint>& points);

}  // namespace coldtrace::cli
