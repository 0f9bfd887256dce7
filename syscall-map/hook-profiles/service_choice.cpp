#include "coldtrace/syscall-map/hook-profiles/service_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/file_name.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::syscall_map {
namespace {

std::vector<std::string> names_of(std::string_view name) {
  if (name.empty()) return {};
  return {std::string{name}};
}

}  // namespace

u32 add_system_call(ServiceCatalogue& catalogue, u16 number, std::string_view name) {
  return catalogue.add(table_of(number), {}, names_of(name), number);
}

u32 add_hashed_call(ServiceCatalogue& catalogue, std::string_view name) {
  return catalogue.add(ServiceTable::nt, {}, names_of(name), std::nullopt);
}

std::optional<u32> add_vxd_service(ServiceCatalogue& catalogue, std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return catalogue.add_named(name.substr(0, colon), std::string{name.substr(colon + 1)});
}

u32 add_routine(ServiceCatalogue& catalogue, std::string_view path, std::string_view name) {
  return catalogue.add_named(core::file_name(path), std::string{name});
}

std::optional<ProfileSelection> ServiceChoice::add(const HookProfile& profile) {
  auto selection = select_services(profile, catalogue_);
  if (selection)
    for (u32 i = 0; i < chosen_.size(); ++i)
      if (selection->is_selected(i)) chosen_[i] = true;
  return selection;
}

std::vector<bool> ServiceChoice::choose(const std::vector<u32>& places,
                                        core::Findings& findings) const {
  std::vector<bool> chosen;
  for (const auto place : places) chosen.push_back(chosen_[place]);
  const auto count = static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), true));
  if (count == 0 && !chosen.empty())
    findings.warning("profile-empty", std::nullopt, "none of {} is selected",
                     core::counted(chosen.size(), "service", "services"));
  else if (count < chosen.size())
    findings.info("services-left-out", std::nullopt, "{} of {} services {} not selected",
                  chosen.size() - count, chosen.size(), chosen.size() - count == 1 ? "is" : "are");
  return chosen;
}

void keep_chosen_services(HookTable& build, const ServiceChoice& choice,
                          std::span<const u32> places, const std::vector<std::string>& profiles) {
  std::vector<HookService> kept;
  for (std::size_t i = 0; i < build.services.size(); ++i)
    if (choice.is_chosen(places[i])) kept.push_back(std::move(build.services[i]));
  if (kept.size() < build.services.size())
    build.findings.info(
        "services-left-out", std::nullopt, "{} of {} services {} not selected by {}",
        build.services.size() - kept.size(), build.services.size(),
        build.services.size() - kept.size() == 1 ? "is" : "are", fmt::join(profiles, ", "));
  build.services = std::move(kept);
}

}  // namespace coldtrace::syscall_map
