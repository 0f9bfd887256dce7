#include "cli/hooks/table/hook_table_services.hpp"

#include <fmt/format.h>

namespace coldtrace::cli {

using syscall_map::HookService;
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
  auto place = places.begin();
  for (auto& build : builds) {
    std::vector<HookService> kept;
    for (auto& service : build.services)
      if (choice.is_chosen(*place++)) kept.push_back(std::move(service));
    if (kept.size() < build.services.size())
      build.findings.info(
          "services-left-out", std::nullopt, "{} of {} services are not selected by {}",
          build.services.size() - kept.size(), build.services.size(), fmt::join(paths, ", "));
    build.services = std::move(kept);
  }
  return told;
}

}  // namespace coldtrace::cli
