#include "coldtrace/syscall-map/service_tables.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "syscall-map/service-tables/service_table_finders.hpp"

namespace coldtrace::syscall_map {
namespace {

bool imports_function(const pe::Image& image, std::string_view name) {
  core::Findings findings;  // damaged imports are not a finding about tables
  for (const auto& module : pe::read_imports(image, findings))
    for (const auto& function : module.functions)
      if (function.name == name) return true;
  return false;
}

// win32k registers its table with KeAddSystemServiceTable, whether it exports the table or not.
// Other drivers that do so (IIS has one) have tables of other names.
bool is_win32k(const TableSearch& search) {
  return search.find_export("W32pServiceTable") || search.find_export("W32pServiceTableFilter") ||
         (search.module_name() == "win32k.sys" &&
          imports_function(search.image(), "KeAddSystemServiceTable"));
}

bool is_kernel(const TableSearch& search) {
  return search.find_export("KeServiceDescriptorTable") || search.find_export("NtBuildNumber");
}

// Since 10.0.10586 win32k is three images, and the tables are in the first.
bool is_part_of_win32k(const TableSearch& search) {
  return search.module_name() == "win32kbase.sys" || search.module_name() == "win32kfull.sys";
}

FoundTables find_tables(TableSearch& search) {
  const auto machine = search.image().machine();
  if (machine != pe::Machine::i386 && machine != pe::Machine::amd64)
    return {{}, fmt::format("the form of {} tables is unknown", pe::to_string(machine))};
  if (is_win32k(search)) return find_win32k_tables(search);
  if (is_kernel(search)) return find_kernel_tables(search);
  return {{}, "neither a kernel nor a win32k with a table: no such export or import"};
}

// Two tables of one name are two places that could each be it.
void check_ambiguity(ServiceTables& found) {
  std::map<std::string_view, std::vector<pe::Rva>> places;
  for (const auto& table : found.tables) places[table.name].push_back(table.rva);
  for (auto& table : found.tables) {
    if (places[table.name].size() == 1) continue;
    table.confidence = Confidence::low;
    table.evidence.push_back("another place could also be it");
  }
  for (const auto& [name, rvas] : places)
    if (rvas.size() > 1)
      found.findings.warning("service-table-ambiguous", std::nullopt,
                             "{} places could be {}: RVA {:#x}, {:#x}{}", rvas.size(), name,
                             value(rvas[0]), value(rvas[1]), rvas.size() > 2 ? ", ..." : "");
}

}  // namespace

ServiceTables find_service_tables(const KernelView& view) {
  TableSearch search{view};
  auto [tables, reason] = find_tables(search);
  ServiceTables found{std::move(tables), std::move(search.findings())};
  std::stable_sort(found.tables.begin(), found.tables.end(),
                   [](const auto& a, const auto& b) { return a.rva < b.rva; });
  if (found.tables.empty() && is_part_of_win32k(search))
    found.findings.info("service-table-elsewhere", std::nullopt,
                        "{} has no service table of its own; that of win32k.sys leads to it",
                        search.module_name());
  else if (found.tables.empty())
    found.findings.warning("no-service-table", std::nullopt, "no service table: {}", reason);
  check_ambiguity(found);
  const auto unverified = std::count_if(found.tables.begin(), found.tables.end(),
                                        [](const auto& table) { return !table.verified; });
  if (unverified > 0)
    found.findings.info(
        "service-table-unverified", std::nullopt,
        "the form of {} of {} tables has never been seen in a real file of its kind", unverified,
        found.tables.size());
  core::note_unreadable(view.image().file(), found.findings);
  return found;
}

}  // namespace coldtrace::syscall_map
