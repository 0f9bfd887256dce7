#include "cli/hooks/table/hook_table_services.hpp"

namespace coldtrace::cli {

using syscall_map::HookService;
using syscall_map::HookTable;

core::Findings keep_selected_services(const syscall_map::HookProfile& profile,
                                      std::span<HookTable> builds) {
  syscall_map::ServiceCatalogue catalogue;
  std::vector<u32> places;  // in the catalogue, of the services of all builds
  for (const auto& build : builds)
    for (const auto& service : build.services) places.push_back(catalogue.add(service));
  const auto selection = select(profile, catalogue);
  auto place = places.begin();
  for (auto& build : builds) {
    std::vector<HookService> kept;
    for (auto& service : build.services)
      if (selection.is_selected(*place++)) kept.push_back(std::move(service));
    if (kept.size() < build.services.size())
      build.findings.info(
          "services-left-out", std::nullopt, "{} of {} services are not selected by {}",
          build.services.size() - kept.size(), build.services.size(), profile.files.front());
    build.services = std::move(kept);
  }
  core::Findings findings;
  note_unmatched(profile, catalogue, selection, findings);
  return findings;
}

}  // namespace coldtrace::cli
