#include "cli/hooks/table/hook_table_services.hpp"

namespace coldtrace::cli {

using syscall_map::HookTable;

std::vector<std::pair<std::string, core::Findings>> keep_selected_services(
    const std::vector<syscall_map::HookProfile>& profiles, std::span<HookTable> builds) {
  syscall_map::ServiceCatalogue catalogue;
  std::vector<u32> places;  // in the catalogue, of the services of all builds
  for (const auto& build : builds)
    for (const auto& service : build.services) places.push_back(catalogue.add(service));
  std::vector<std::string> paths;
  syscall_map::ServiceChoice choice{catalogue};
  std::vector<std::pair<std::string, core::Findings>> told;
  for (const auto& profile : profiles) {
    const auto selection = select(profile, catalogue, choice);
    paths.push_back(profile.files.front());
    note_unmatched(profile, catalogue, selection,
                   told.emplace_back(paths.back(), core::Findings{}).second);
  }
  for (std::span<const u32> left{places}; auto& build : builds) {
    const auto services = build.services.size();
    keep_chosen_services(build, choice, left.first(services), paths);
    left = left.subspan(services);
  }
  return told;
}

}  // namespace coldtrace::cli
