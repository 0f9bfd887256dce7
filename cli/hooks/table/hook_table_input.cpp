#include "cli/hooks/table/hook_table_input.hpp"

#include <deque>

#include "cli/images/image_roles.hpp"

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
  const auto builds = known ? known->builds() : std::vector<syscall_map::KnownBuild>{};
  auto table = syscall_map::assemble_hook_table(
      sources, symbols,
      {trace_requests, members, builds,
       known ? known->signatures() : std::span<const syscall_map::Signature>{}},
      findings);
  for (auto& input : inputs) {
    findings.merge(input.findings());
  }
  findings.merge_unknown(table.findings);
  table.findings = std::move(findings);
  return table;
}

}  // namespace coldtrace::cli
