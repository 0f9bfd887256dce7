#include "cli/trace/analysis/services/service_choice.hpp"

#include <algorithm>
#include <functional>

#include "cli/hooks/profile_file.hpp"
#include "coldtrace/core/name_choice.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ServiceCatalogue;
using trace_analysis::Service;
using trace_analysis::Services;
using trace_analysis::ServiceSums;

u32 add_to(ServiceCatalogue& catalogue, const ServiceSums& one, const ServiceNames& names) {
  using Kind = Service::Kind;
  const auto name = names.find(one);
  if (one.service.kind == Kind::system_call)
    return add_system_call(catalogue, static_cast<u16>(one.service.number), name);
  if (one.service.kind == Kind::hashed_system_call) return add_hashed_call(catalogue, name);
  if (one.service.kind == Kind::vxd_service)
    if (const auto place = add_vxd_service(catalogue, name)) return *place;
  return add_routine(catalogue, names.module(one), name);
}

std::vector<bool> find_selected(const Services& services, const ServiceNames& names,
                                const std::vector<std::string>& profiles,
                                const CommonOptions& options, core::Findings& findings) {
  ServiceCatalogue catalogue;
  std::vector<u32> places;
  for (const auto& one : services.services()) places.push_back(add_to(catalogue, one, names));
  syscall_map::ServiceChoice selected{catalogue};
  for (const auto& path : profiles) {
    const auto profile = open_profile(path, options);
    const auto selection = select(profile, catalogue, selected);
    note_uncalled(selection, path, findings);
  }
  return selected.choose(places, findings);
}

std::vector<bool> find_matching(const Services& services, const ServiceNames& names,
                                const std::vector<std::string>& globs, core::Findings& findings) {
  std::vector<std::string> labels;
  for (const auto& one : services.services()) labels.push_back(names.label(one));
  core::NoMatch unmatched;
  auto matching = core::choose_names(globs, labels, "--service", unmatched);
  unmatched.report(findings);
  return matching;
}

void keep(const std::vector<bool>& chosen, std::vector<bool>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] && chosen[i];
}

}  // namespace

void add_service_choice(Command& command, ServiceChoice& choice) {
  command
      .add_option("--service", choice.labels,
                  "Only these services, by the name or glob of the last column")
      .list("SERVICE");
  add_profile_option(command, choice.profiles);
}

std::vector<u32> choose_services(const Services& services, const ServiceNames& names,
                                 const ServiceChoice& choice, RowOrder order,
                                 const CommonOptions& options, core::Findings& findings) {
  const auto& all = services.services();
  std::vector<bool> wanted(all.size(), true);
  if (!choice.labels.empty()) keep(find_matching(services, names, choice.labels, findings), wanted);
  if (!choice.profiles.empty())
    keep(find_selected(services, names, choice.profiles, options, findings), wanted);
  auto numbers = trace_analysis::costliest_first(all, wanted);
  if (order == RowOrder::count)
    std::ranges::stable_sort(numbers, std::greater{},
                             [&](u32 number) { return all[number].calls; });
  return numbers;
}

}  // namespace coldtrace::cli
