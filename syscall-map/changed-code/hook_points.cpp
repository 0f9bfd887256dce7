#include "coldtrace/syscall-map/hook_points.hpp"

#include <algorithm>

#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"

namespace coldtrace::syscall_map {
namespace {

void add_stubs(const KernelView& view, std::vector<HookPoint>& points) {
  for (const auto& service : view.services().services)
    points.push_back({HookPointKind::stub, service.name, service.rva, service.number});
}

// The names of entries come with the services of a hook table, which only kernels have.
void add_services(const KernelView& view, const pe::Identity& identity,
                  const std::vector<NamedPlace>& symbols, HookPoints& found) {
  found.tables = find_service_tables(view).tables;
  HookTableSource source;
  source.description.identity = identity;
  source.view = &view;
  for (const auto& service : build_hook_services({&source, 1}, symbols).services)
    if (service.target)
      found.points.push_back({HookPointKind::service,
                              service.names.empty() ? std::string{} : service.names.front(),
                              *service.target, service.number});
}

void add_table_entries(const KernelView& view, HookPoints& found) {
  found.tables = find_service_tables(view).tables;
  for (const auto& table : found.tables) {
    u16 number = table.table == ServiceTable::win32k ? win32k_bit : u16{0};
    for (const auto& entry : table.entries)
      found.points.push_back({HookPointKind::service, {}, entry.target, number++});
  }
}

void add_switches(const KernelView& view, const std::vector<NamedPlace>& symbols,
                  HookPoints& found) {
  for (const auto& place : find_context_switch(view, symbols).candidates) {
    found.points.push_back({HookPointKind::context_switch, place.name, place.rva, std::nullopt});
    if (place.condition == SwitchCondition::unless_patched) found.patched_switch = place.rva;
    if (place.condition == SwitchCondition::when_patched) found.switch_in_its_place = place.rva;
  }
}

}  // namespace

std::string_view to_string(HookPointKind kind) {
  switch (kind) {
    case HookPointKind::stub:
      return "stub";
    case HookPointKind::service:
      return "service";
    case HookPointKind::context_switch:
      return "context_switch";
  }
  return "stub";
}

HookPoints find_hook_points(const KernelView& view, const pe::Identity& identity,
                            const std::vector<NamedPlace>& symbols) {
  HookPoints found;
  const auto role = find_image_role(identity);
  if (role == ImageRole::kernel) {
    add_services(view, identity, symbols, found);
    add_switches(view, symbols, found);
  } else if (role == ImageRole::win32k || role == ImageRole::win32kbase ||
             role == ImageRole::win32kfull) {
    add_table_entries(view, found);
  }
  if (!role || *role == ImageRole::kernel || *role == ImageRole::ntdll ||
      *role == ImageRole::win32u)
    add_stubs(view, found.points);
  std::stable_sort(found.points.begin(), found.points.end(), [](const auto& a, const auto& b) {
    return a.rva != b.rva ? a.rva < b.rva : a.kind < b.kind;
  });
  const auto last =
      std::unique(found.points.begin(), found.points.end(),
                  [](const auto& a, const auto& b) { return a.rva == b.rva && a.kind == b.kind; });
  found.points.erase(last, found.points.end());
  return found;
}

void note_no_points(const HookPoints& points, core::Findings& findings) {
  if (points.points.empty())
    findings.warning("no-services", std::nullopt,
                     "the image has no stub, no service and no context switch to look at");
}

std::vector<pe::PatchSite> service_row_sites(const HookPoints& points) {
  std::vector<pe::PatchSite> sites;
  for (const auto& table : points.tables)
    for (std::size_t i = 0; i < table.entries.size(); ++i)
      sites.push_back(
          {table.rva + i * row_size(table.form), row_size(table.form), pe::PatchRule::service_row});
  return sites;
}

}  // namespace coldtrace::syscall_map
