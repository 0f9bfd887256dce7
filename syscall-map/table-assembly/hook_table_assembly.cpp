#include "coldtrace/syscall-map/table-assembly/hook_table_assembly.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/member_values.hpp"
#include "coldtrace/syscall-map/table-assembly/trace_plan.hpp"

namespace coldtrace::syscall_map {
namespace {

std::vector<InferredMember> infer_members(const HookTableRequests& requests,
                                          const KernelView& kernel,
                                          const std::vector<HookService>& services,
                                          core::Findings& findings) {
  std::vector<InferredMember> inferred;
  for (const auto& build : requests.known) {
    auto members =
        derive_members(requests.members, build, kernel, services, requests.signatures, findings);
    std::ranges::move(members, std::back_inserter(inferred));
  }
  return inferred;
}

}  // namespace

HookTable assemble_hook_table(std::span<const HookTableSource> sources,
                              std::span<pe::SymbolFile> symbols, const HookTableRequests& requests,
                              core::Findings& findings) {
  const auto& kernel = *sources.front().view;
  const auto named =
      find_kernel_symbols(kernel, sources.front().description.identity, symbols, findings);
  auto table = build_hook_table(sources, named.places, named.types);
  if (!requests.trace_points.empty()) {
    auto plan = make_trace_plan(kernel, named, table, requests.trace_points);
    table.trace_points = std::move(plan.points);
    findings.merge(plan.findings);
  }
  const auto inferred = infer_members(requests, kernel, table.services, findings);
  table.members = find_members(requests.members, kernel, table, named.files, inferred, findings);
  return table;
}

void note_unused_symbols(std::span<const pe::SymbolFile> symbols, std::span<const HookTable> builds,
                         core::Findings& findings) {
  const auto used = [&](const pe::SymbolFile& file) {
    return std::ranges::any_of(builds, [&](const HookTable& build) {
      const auto* const kernel = find_kernel(build);
      return kernel != nullptr &&
             pe::belongs_to(file, kernel->identity.pdb, kernel->identity.machine);
    });
  };
  if (std::ranges::none_of(symbols, used)) return;
  for (const auto& file : symbols)
    if (!used(file))
      findings.warning("pdb-mismatch", std::nullopt,
                       "{}: no kernel of the table has its GUID, age and machine", file.path);
}

}  // namespace coldtrace::syscall_map
