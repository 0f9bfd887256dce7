#include "coldtrace/syscall-map/table-exports/syscall_columns.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "syscall-map/table-exports/chosen_values.hpp"
#include "syscall-map/table-exports/file_version.hpp"

namespace coldtrace::syscall_map {
namespace {

// Source: Microsoft, "Operating System Version"; XP for x64 has the kernel of Server 2003.
std::string_view family_of(const pe::VersionNumber& version) {
  struct Row {
    u16 major, minor, build;  // the first build
    std::string_view family;
  };
  constexpr Row rows[] = {
      {10, 0, 20348, "Windows 11 and Server"},
      {10, 0, 0, "Windows 10"},
      {6, 2, 0, "Windows 8"},
      {6, 1, 0, "Windows 7"},
      {6, 0, 0, "Windows Vista"},
      {5, 2, 0, "Windows Server 2003"},
      {5, 1, 0, "Windows XP"},
      {5, 0, 0, "Windows 2000"},
      {4, 0, 0, "Windows NT 4.0"},
      {3, 0, 0, "Windows NT 3.x"},
  };
  for (const auto& row : rows)
    if (version[0] == row.major && version[1] >= row.minor && version[2] >= row.build)
      return row.family;
  return {};
}

std::map<std::string, u16> numbers_of(const HookTable& build, ServiceTable table,
                                      LeftOutValues& left_out) {
  std::map<std::string, u16> numbers;
  u64 unnamed = 0;
  for (const auto& service : build.services) {
    if (service.table != table) continue;
    if (service.names.empty() || service.confidence == Confidence::low) {
      ++unnamed;
      continue;
    }
    for (const auto& name : service.names)
      if (const auto [place, added] = numbers.try_emplace(name, service.number);
          !added && place->second != service.number)
        left_out.add(build, name, "several numbers, of which the lowest is written");
  }
  if (unnamed > 0)
    left_out.add(build, core::counted(unnamed, "service", "services"),
                 "no reliable name; these are left out");
  return numbers;
}

}  // namespace

std::vector<SystemColumn> make_system_columns(std::span<const HookTable> builds, ServiceTable table,
                                              pe::Machine machine, core::Findings& findings) {
  std::map<pe::VersionNumber, SystemColumn> columns;
  LeftOutBuilds unusable;
  LeftOutValues left_out;
  for (const auto& build : builds) {
    const auto* const kernel = find_kernel(build);
    if (kernel == nullptr) {
      unusable.add(build, "a column is found by its kernel");
      continue;
    }
    const auto& identity = kernel->identity;
    const auto version = to_version_number(identity.file_version.value_or(""));
    const auto family = version ? family_of(*version) : std::string_view{};
    if (identity.machine != machine) {
      unusable.add(build, "it is for another machine than the first");
      continue;
    }
    if (family.empty()) {
      unusable.add(build, "it has no version of Windows that identifies its system");
      continue;
    }
    auto numbers = numbers_of(build, table, left_out);
    if (numbers.empty()) {
      unusable.add(build, fmt::format("no service of {} has a name", to_string(table)));
      continue;
    }
    const auto [place, added] = columns.try_emplace(*version);
    if (added)
      place->second = {family, pe::to_string(*version), std::move(numbers)};
    else if (place->second.numbers != numbers)
      unusable.add(build, "another kernel of its version has other numbers");
  }
  unusable.report(findings);
  left_out.report(findings);
  std::vector<SystemColumn> result;
  for (auto& [version, column] : columns) result.push_back(std::move(column));
  return result;
}

}  // namespace coldtrace::syscall_map
