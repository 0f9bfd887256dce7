#include "coldtrace/syscall-map/table-assembly/trace_plan.hpp"

#include "coldtrace/syscall-map/trace-points/trace_driver.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace coldtrace::syscall_map {

TracePlan make_trace_plan(const KernelView& kernel, const KernelSymbols& symbols,
                          const HookTable& table, std::span<const std::string> requests) {
  TracePlan plan;
  plan.pdb = symbols.path;
  plan.points =
      plan_trace_points(kernel, requests, {symbols.places, table.services}, plan.findings);
  plan.interfaces = select_trace_interfaces(table.supported_interfaces);
  plan.facility = find_trace_facility(kernel.image(), plan.interfaces, symbols.places);
  note_absence(plan.facility, plan.findings);
  return plan;
}

TracePlan make_trace_plan(std::span<const HookTableSource> sources,
                          std::span<pe::SymbolFile> symbols,
                          std::span<const std::string> requests) {
  const auto& kernel = *sources.front().view;
  core::Findings findings, ntdll_findings;
  const auto named =
      find_kernel_symbols(kernel, sources.front().description.identity, symbols, findings);
  auto table = build_hook_services(sources, named.places);
  table.supported_interfaces = find_supported_interfaces(kernel, findings);
  if (!has_trace_names(kernel, requests, named.places)) {
    findings.merge(table.findings);
    for (const auto& image : table.images)
      (image.role == ImageRole::ntdll ? ntdll_findings : findings).merge(image.findings);
  }
  auto plan = make_trace_plan(kernel, named, table, requests);
  findings.merge(plan.findings);
  plan.findings = std::move(findings);
  plan.ntdll_findings = std::move(ntdll_findings);
  return plan;
}

}  // namespace coldtrace::syscall_map
