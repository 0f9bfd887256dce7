#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "coldtrace/pe/version_info.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/table-exports/member_rows.hpp"
#include "syscall-map/table-exports/chosen_values.hpp"
#include "syscall-map/table-exports/file_version.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::string_view list_name = "edrsandblast";

std::optional<std::vector<u64>> values_of(const HookTable& build,
                                          const std::vector<MemberRequest>& requests) {
  std::vector<u64> values;
  for (const auto& request : requests) {
    const auto* const found = find_value(build, request);
    values.push_back(found ? *found->value : 0);
  }
  const bool none = std::ranges::all_of(values, [](u64 value) { return value == 0; });
  return none ? std::nullopt : std::optional{std::move(values)};
}

}  // namespace

std::vector<std::string> edrsandblast_columns() {
  std::vector<std::string> columns;
  for (auto& request : built_in_requests(list_name)) columns.push_back(std::move(request.name));
  return columns;
}

std::vector<EdrsandblastRow> make_edrsandblast_rows(std::span<const HookTable> builds,
                                                    core::Findings& findings) {
  const auto requests = built_in_requests(list_name);
  std::map<std::pair<u16, u16>, std::vector<u64>> rows;
  LeftOutBuilds unusable;
  LeftOutValues left_out;
  for (const auto& build : builds) {
    const auto* const kernel = find_kernel(build);
    if (kernel == nullptr) {
      unusable.add(build, "a row is found by its kernel");
      continue;
    }
    const auto& identity = kernel->identity;
    const auto version = to_version_number(identity.file_version.value_or(""));
    auto values = values_of(build, requests);
    if (identity.machine != pe::Machine::amd64) {
      unusable.add(build, "EDRSandblast's tables are for x64 kernels");
    } else if (!version) {
      unusable.add(build, "it has no file version, by which EDRSandblast finds its row");
    } else if (!values) {
      unusable.add(build, why_no_values(build, list_name));
    } else {
      for (std::size_t i = 0; i < requests.size(); ++i)
        if ((*values)[i] == 0)
          left_out.add(build, requests[i].name, "no reliable value; 0 in the row");
      const auto [place, added] = rows.try_emplace({(*version)[2], (*version)[3]}, *values);
      if (!added && place->second != *values)
        unusable.add(build, "another kernel of its build and revision has other values");
    }
  }
  unusable.report(findings);
  left_out.report(findings);
  std::vector<EdrsandblastRow> result;
  for (auto& [key, values] : rows) result.push_back({key.first, key.second, std::move(values)});
  return result;
}

}  // namespace coldtrace::syscall_map
