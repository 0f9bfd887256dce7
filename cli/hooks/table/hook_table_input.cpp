#include "cli/hooks/table/hook_table_input.hpp"

#include <algorithm>
#include <deque>

#include "cli/images/image_roles.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/syscall-map/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/member_values.hpp"
#include "coldtrace/syscall-map/trace_planner.hpp"

namespace coldtrace::cli {

using syscall_map::ImageRole;

std::optional<syscall_map::HookTable> make_hook_table(
    const syscall_map::BuildFiles& files, const PeOptions& options,
    const std::vector<pe::SymbolFile>& symbols, Report& report,
    const std::vector<std::string>& trace_requests,
    const std::vector<syscall_map::MemberRequest>& members, const KnownBuilds* known) {
  std::vector<PeInput> inputs;
  std::deque<syscall_map::KernelView> views;
  std::vector<syscall_map::HookTableSource> sources;
  core::Findings findings;
  inputs.reserve(files.size());
  for (const auto& file : files) {
    auto input = open_pe(file.path, options, report);
    if (!input && file.role == ImageRole::kernel) return std::nullopt;
    if (!input) continue;
    inputs.push_back(std::move(*input));
    auto identity = identify_with_hash(inputs.back(), options);
    require_role({file.path, identity.identity}, file.role);
    if (!sources.empty()) {
      const auto& kernel = sources.front().description;
      require_one_machine({file.path, identity.identity}, {kernel.path, kernel.identity});
    }
    sources.push_back({{file.role, file.path, std::move(identity.identity), identity.sha256},
                       &views.emplace_back(inputs.back().image)});
  }
  const auto kernel = syscall_map::find_kernel_symbols(
      views.front(), sources.front().description.identity, symbols, findings);
  auto table = syscall_map::build_hook_table(sources, kernel.places, kernel.types);
  table.trace_points = syscall_map::plan_trace_points(views.front(), trace_requests,
                                                      {kernel.places, table.services}, findings);
  std::vector<syscall_map::InferredMember> inferred;
  if (known) inferred = known->derive(members, views.front(), table.services, findings);
  table.members =
      syscall_map::find_members(members, views.front(), table, kernel.files, inferred, findings);
  for (auto& input : inputs) {
    findings.merge(input.findings());
  }
  findings.merge_unknown(table.findings);
  table.findings = std::move(findings);
  return table;
}

void report_unused_symbols(const std::vector<pe::SymbolFile>& symbols,
                           const std::vector<syscall_map::HookTable>& builds,
                           core::Findings& findings) {
  const auto used = [&](const pe::SymbolFile& file) {
    return std::ranges::any_of(builds, [&](const auto& build) {
      const auto& identity = syscall_map::find_kernel(build)->identity;
      return pe::belongs_to(file, identity.pdb, identity.machine);
    });
  };
  if (std::ranges::none_of(symbols, used)) return;
  for (const auto& file : symbols)
    if (!used(file))
      findings.warning("pdb-mismatch", std::nullopt,
                       "{}: no kernel of the table has its GUID, age and machine", file.path);
}

}  // namespace coldtrace::cli
