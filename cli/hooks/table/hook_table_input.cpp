#include "cli/hooks/table/hook_table_input.hpp"

#include <algorithm>
#include <deque>

#include "cli/images/image_roles.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {

using syscall_map::ImageRole;

std::optional<syscall_map::HookTable> make_hook_table(
    const syscall_map::BuildFiles& files, const PeOptions& options,
    std::vector<pe::SymbolFile>& symbols, Report& report,
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
    require_stubs({file.path, sources.back().description.identity}, file.role,
                  views.back().services().services);
  }
  const auto builds = known ? known->builds() : std::vector<syscall_map::KnownBuild>{};
  auto table = syscall_map::assemble_hook_table(
      sources, symbols,
      {trace_requests, members, builds,
       known ? known->signatures() : std::span<const syscall_map::Signature>{}},
      findings);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& path = sources[i].description.path;
    const auto role = sources[i].description.role;
    const auto image = std::ranges::find_if(table.images, [&](const auto& candidate) {
      return candidate.role == role && candidate.path == path;
    });
    if (role == ImageRole::kernel || image == table.images.end()) {
      findings.merge(inputs[i].findings());
      continue;
    }
    auto own = std::move(inputs[i].findings());
    own.merge_unknown(image->findings);
    image->findings = std::move(own);
  }
  findings.merge_unknown(table.findings);
  table.findings = std::move(findings);
  return table;
}

void tell_hook_table(const syscall_map::HookTable& table, Report& report) {
  report.read(syscall_map::find_kernel(table)->path, table.findings);
  for (const auto& image : table.images)
    if (image.role != ImageRole::kernel) report.tell(image.path, image.findings);
}

}  // namespace coldtrace::cli
