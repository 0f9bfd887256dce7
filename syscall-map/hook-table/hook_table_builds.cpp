#include "coldtrace/syscall-map/hook-table/hook_table_builds.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::syscall_map {
namespace {

bool same_kernel(const HookTable& a, const HookTable& b) {
  const auto* const one = find_kernel(a);
  const auto* const other = find_kernel(b);
  return one != nullptr && other != nullptr && pe::same_headers(one->identity, other->identity);
}

}  // namespace

void add_build(std::vector<HookTable>& builds, HookTable build, core::Findings& findings) {
  const auto known = std::find_if(builds.begin(), builds.end(), [&](const HookTable& other) {
    return same_kernel(other, build);
  });
  if (known == builds.end()) {
    builds.push_back(std::move(build));
    return;
  }
  if (known->trace_points.empty()) known->trace_points = build.trace_points;
  if (build.trace_points.empty()) build.trace_points = known->trace_points;
  const auto stamp = find_kernel(*known)->identity.time_date_stamp;
  const auto differences = compare_hook_tables(*known, build);
  if (differences.empty())
    findings.info("image-twice", std::nullopt,
                  "the build of the kernel with stamp {:#010x} is in an earlier table, with the "
                  "same values",
                  stamp);
  else
    findings.warning("build-conflict", std::nullopt,
                     "the build of the kernel with stamp {:#010x} differs in {} from that of an "
                     "earlier table, which is kept; the first is {}",
                     stamp, core::counted(differences.size(), "value", "values"),
                     differences.front().path);
}

}  // namespace coldtrace::syscall_map
