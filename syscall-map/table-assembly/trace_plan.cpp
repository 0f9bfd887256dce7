#include "coldtrace/syscall-map/table-assembly/trace_plan.hpp"

#include "coldtrace/syscall-map/trace-points/trace_driver.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace coldtrace::syscall_map {

TracePlan make_trace_plan(std::span<const HookTableSource> sources,
                          std::span<pe::SymbolFile> symbols,
                          std::span<const std::string> requests) {
  const auto& kernel = *sources.front().view;
  TracePlan plan;
  const auto named =
      find_kernel_symbols(kernel, sources.front().description.identity, symbols, plan.findings);
  plan.pdb = named.path;
  const auto table = build_hook_services(sources, named.places);
  if (!has_trace_names(kernel, requests, named.places)) {
    plan.findings.merge(table.findings);
    for (const auto& image : table.images)
      (image.role == ImageRole::ntdll ? plan.ntdll_findings : plan.findings).merge(image.findings);
  }
  plan.points = plan_trace_points(kernel, requests, {named.places, table.services}, plan.findings);
  plan.interfaces = select_trace_interfaces(find_supported_interfaces(kernel, plan.findings));
  plan.facility = find_trace_facility(kernel.image(), plan.interfaces, named.places);
  note_absence(plan.facility, plan.findings);
  return plan;
}

}  // namespace coldtrace::syscall_map
