#include "coldtrace/syscall-map/servicing/table_servicing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::syscall_map {

RowChanges count_states(std::vector<RowChange> rows) {
  RowChanges changes{std::move(rows)};
  for (const auto& row : changes.rows) ++changes.counts[static_cast<std::size_t>(row.state)];
  return changes;
}

void note_row_changes(std::string_view path, std::span<const RowChange> rows,
                      core::Findings& findings) {
  for (const auto& row : rows) {
    const auto text = fmt::format("{}: {} {}", path, to_string(row.kind),
                                  row.name.empty() ? "(no name)" : row.name);
    switch (row.state) {
      case RowState::moved:
        findings.warning("servicing-moved", std::nullopt, "{} is at a different place", text);
        break;
      case RowState::changed:
        findings.warning("servicing-changed", std::nullopt, "{} is different", text);
        break;
      case RowState::gone:
        findings.warning("servicing-gone", std::nullopt, "{} is gone: {}", text, row.reason);
        break;
      case RowState::unproved:
        findings.warning("servicing-unproved", std::nullopt, "{}: {}", text, row.reason);
        break;
      case RowState::survives:
      case RowState::added:
        break;
    }
  }
}

std::vector<MemberRequest> repeat_requests(const HookTable& table,
                                           std::span<const MemberRequest> given) {
  std::vector<MemberRequest> requests;
  for (const auto& member : table.members) {
    if (!member.value) continue;
    const auto known = std::ranges::find_if(given, [&](const MemberRequest& request) {
      return request.name == member.name && request.kind == member.kind;
    });
    requests.push_back(known != given.end()
                           ? *known
                           : MemberRequest{member.name, member.kind, {member.expression}, true});
  }
  return requests;
}

const BuildFiles* find_build(std::span<const BuildFiles> builds, const ServicedModule& kernel) {
  const BuildFiles* alike = nullptr;
  for (const auto& files : builds) {
    if (files.front().path == kernel.path) return &files;
    if (alike == nullptr && same_headers(files.front().identity, kernel.identity)) alike = &files;
  }
  return alike;
}

std::vector<ModulePair> pairs_of_kernel(std::span<const ModulePair> pairs,
                                        std::span<const ServicedModule> before,
                                        const pe::Identity& kernel) {
  std::vector<ModulePair> whole, alone;
  for (const auto& pair : pairs)
    if (pair.before && before[*pair.before].role == ImageRole::kernel &&
        same_headers(before[*pair.before].identity, kernel))
      (pair.after ? whole : alone).push_back(pair);
  if (whole.empty() && !alone.empty()) whole.push_back(alone.front());
  return whole;
}

void mark_kernels(std::span<ServicedModule> modules, const HookTable& build) {
  const auto* const kernel = find_kernel(build);
  if (kernel == nullptr) return;
  for (auto& module : modules)
    if (!module.role && same_headers(kernel->identity, module.identity))
      module.role = ImageRole::kernel;
}

void mark_kernels(std::span<const ServicedModule> before, std::span<ServicedModule> after,
                  std::span<const ModulePair> pairs) {
  for (const auto& pair : pairs) {
    if (!pair.before || !pair.after) continue;
    const auto& kernel = before[*pair.before];
    auto& other = after[*pair.after];
    if (kernel.role == ImageRole::kernel && !other.role &&
        core::equal_ignoring_case(kernel.identity.name, other.identity.name))
      other.role = kernel.role;
  }
}

void note_missing_kernels(std::string_view path, std::string_view system, std::size_t missing,
                          std::size_t builds, core::Findings& findings) {
  if (missing == builds)
    findings.warning(
        "servicing-table", std::nullopt,
        "{}: {} has no kernel that this table was made from, so nothing is said about its rows",
        path, system);
  else if (missing > 0)
    findings.info("servicing-table", std::nullopt,
                  "{}: {} has no kernel of {} of its {} builds, so nothing is said about {} rows",
                  path, system, missing, builds, missing == 1 ? "its" : "their");
}

}  // namespace coldtrace::syscall_map
