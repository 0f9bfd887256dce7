#include "coldtrace/syscall-map/hook-table/hook_table_builds.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::syscall_map {
namespace {

const pe::Identity& kernel_of(const HookTable& build) {
  return find_kernel(build)->identity;
}

}  // namespace

void add_build(std::vector<HookTable>& builds, HookTable build, core::Findings& findings) {
  const auto known = std::find_if(builds.begin(), builds.end(), [&](const HookTable& other) {
    return pe::same_headers(kernel_of(other), kernel_of(build));
  });
  if (known == builds.end()) {
    builds.push_back(std::move(build));
    return;
  }
  if (known->trace_points.empty()) known->trace_points = build.trace_points;
  if (build.trace_points.empty()) build.trace_points = known->trace_points;
  const auto differences = compare_hook_tables(*known, build);
  if (differences.empty())
    findings.info("image-twice", std::nullopt,
                  "the build of the kernel with stamp {:#010x} is in an earlier table, with the "
                  "same values",
                  kernel_of(build).time_date_stamp);
  else
    findings.warning("build-conflict", std::nullopt,
                     "the build of the kernel with stamp {:#010x} differs in {} from that of an "
                     "earlier table, which is kept; the first is {}",
                     kernel_of(build).time_date_stamp,
                     core::counted(differences.size(), "value", "values"),
                     differences.front().path);
}

}  // namespace coldtrace::syscall_map
