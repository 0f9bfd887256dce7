#include "coldtrace/syscall-map/servicing/module_comparison.hpp"

#include <map>

#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"

namespace coldtrace::syscall_map {
namespace {

const pe::ExportDirectory& exports_of(const KernelView& view, core::Findings& findings) {
  findings.merge(view.exports().findings);
  return view.exports().directory;
}

std::optional<StubComparison> compare_stubs(const KernelView& before, const KernelView& after,
                                            ModuleComparison& comparison) {
  const auto& old_map = before.services();
  const auto& new_map = after.services();
  if (old_map.services.empty() && new_map.services.empty()) return std::nullopt;
  comparison.before.merge_unknown(old_map.findings);
  comparison.after.merge_unknown(new_map.findings);
  return StubComparison{old_map.services.size(), new_map.services.size(),
                        compare_services(old_map.services, new_map.services)};
}

// By name, and by how many of the name came before.
std::map<std::pair<std::string, u32>, ServiceTablePlace> tables_of(const KernelView& view) {
  std::map<std::pair<std::string, u32>, ServiceTablePlace> places;
  std::map<std::string, u32> seen;
  for (const auto& table : find_service_tables(view).tables)
    places.emplace(std::pair{table.name, seen[table.name]++},
                   ServiceTablePlace{table.rva, table.form, table.entries.size(), table.limit,
                                     table.arguments, table.descriptor});
  return places;
}

std::optional<std::vector<ServiceTableChange>> compare_tables(const KernelView& before,
                                                              const KernelView& after) {
  const auto old_tables = tables_of(before);
  const auto new_tables = tables_of(after);
  if (old_tables.empty() && new_tables.empty()) return std::nullopt;
  std::vector<ServiceTableChange> changes;
  for (const auto& [key, place] : old_tables) {
    const auto other = new_tables.find(key);
    if (other == new_tables.end())
      changes.push_back({key.first, place, std::nullopt});
    else if (place != other->second)
      changes.push_back({key.first, place, other->second});
  }
  for (const auto& [key, place] : new_tables)
    if (!old_tables.contains(key)) changes.push_back({key.first, std::nullopt, place});
  return changes;
}

bool has_service_tables(ImageRole role) {
  return role != ImageRole::ntdll && role != ImageRole::win32u;
}

std::optional<pe::ApiSetSchema> schema_of(const KernelView& view, core::Findings& findings) {
  auto schema = pe::find_api_set_schema(view.image(), findings);
  if (schema) return std::move(*schema);
  findings.warning("api-set-schema", schema.error());
  return std::nullopt;
}

}  // namespace

std::vector<std::string_view> changed_identity(const pe::Identity& before,
                                               const pe::Identity& after) {
  std::vector<std::string_view> changed;
  const auto add = [&](bool differs, std::string_view member) {
    if (differs) changed.push_back(member);
  };
  add(before.name != after.name, "name");
  add(before.file_version != after.file_version, "file_version");
  add(before.time_date_stamp != after.time_date_stamp, "time_date_stamp");
  add(before.size_of_image != after.size_of_image, "size_of_image");
  add(before.checksum != after.checksum, "checksum");
  const bool both = before.pdb && after.pdb;
  add(before.pdb.has_value() != after.pdb.has_value() ||
          (both && !same_pdb(*before.pdb, *after.pdb)),
      "pdb");
  add(before.wine != after.wine, "wine");
  return changed;
}

ModuleComparison compare_modules(const KernelView& before, const KernelView& after,
                                 std::optional<ImageRole> role) {
  ModuleComparison comparison;
  comparison.exports =
      compare_exports(exports_of(before, comparison.before), exports_of(after, comparison.after));
  comparison.imports = compare_imports(list_imports(before.image(), comparison.before),
                                       list_imports(after.image(), comparison.after));
  comparison.services = compare_stubs(before, after, comparison);
  if (role && has_service_tables(*role)) comparison.service_tables = compare_tables(before, after);
  if (role == ImageRole::kernel) comparison.trace_points = compare_trace_points(before, after);
  const auto old_schema = schema_of(before, comparison.before);
  const auto new_schema = schema_of(after, comparison.after);
  if (old_schema || new_schema)
    comparison.api_sets =
        compare_api_sets(old_schema ? &*old_schema : nullptr, new_schema ? &*new_schema : nullptr);
  core::note_unreadable(before.image().file(), comparison.before);
  core::note_unreadable(after.image().file(), comparison.after);
  return comparison;
}

}  // namespace coldtrace::syscall_map
