#include "cli/trace/analysis/services/service_choice.hpp"

#include <algorithm>

#include "cli/hooks/profile_file.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ServiceCatalogue;
using trace_analysis::Service;
using trace_analysis::Services;
using trace_analysis::ServiceSums;

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('\\') + 1);
}

// The service as profiles know it: that of a table, of a virtual device driver, or of the image
// that has the routine. One without a name is part of all the services of its module.
u32 add_to(ServiceCatalogue& catalogue, const ServiceSums& one, const ServiceNames& names) {
  using Kind = Service::Kind;
  const auto name = names.find(one);
  const auto number = static_cast<u16>(one.service.number);
  const auto named = name.empty() ? std::vector<std::string>{} : std::vector{name};
  if (one.service.kind == Kind::system_call)
    return catalogue.add(syscall_map::table_of(number), {}, named, number);
  if (one.service.kind == Kind::hashed_system_call)
    return catalogue.add(syscall_map::ServiceTable::nt, {}, named, std::nullopt);
  if (one.service.kind == Kind::vxd_service) {
    const auto colon = name.find(':');
    if (colon != std::string::npos)
      return catalogue.add_named(name.substr(0, colon), name.substr(colon + 1));
  }
  return catalogue.add_named(file_of(names.module(one)), name);
}

void keep_selected(const Services& services, const ServiceNames& names,
                   const std::vector<std::string>& profiles, const CommonOptions& options,
                   core::Findings& findings, std::vector<bool>& wanted) {
  ServiceCatalogue catalogue;
  std::vector<u32> places;
  for (const auto& one : services.services()) places.push_back(add_to(catalogue, one, names));
  std::vector<bool> selected(places.size());
  for (const auto& path : profiles) {
    const auto profile = open_profile(path, options);
    const auto selection = select(profile, catalogue);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (selection.is_selected(places[i])) selected[i] = true;
    if (const auto unmatched = selection.unmatched().size(); unmatched > 0)
      findings.info("profile-uncalled", std::nullopt,
                    "{} rules of {} speak of no service that the trace has", unmatched, path);
  }
  const auto count = static_cast<std::size_t>(std::count(selected.begin(), selected.end(), true));
  if (count == 0 && !selected.empty())
    findings.warning("profile-empty", std::nullopt, "none of {} services is selected",
                     selected.size());
  else if (count < selected.size())
    findings.info("services-left-out", std::nullopt, "{} of {} services are not selected",
                  selected.size() - count, selected.size());
  for (std::size_t i = 0; i < selected.size(); ++i) wanted[i] = wanted[i] && selected[i];
}

void keep_matching(const std::vector<std::string>& globs, const std::vector<std::string>& labels,
                   core::Findings& findings, std::vector<bool>& wanted) {
  core::NoMatch unmatched;
  std::vector<bool> matches(labels.size());
  for (const auto& glob : globs) {
    bool met = false;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (glob_matches(glob, labels[i], GlobCase::insensitive)) matches[i] = met = true;
    if (!met)
      unmatched.add("--service", glob, std::vector<std::string_view>{labels.begin(), labels.end()});
  }
  unmatched.report(findings);
  for (std::size_t i = 0; i < labels.size(); ++i) wanted[i] = wanted[i] && matches[i];
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
                                 const ServiceChoice& choice, const CommonOptions& options,
                                 core::Findings& findings) {
  const auto& all = services.services();
  std::vector<bool> wanted(all.size(), true);
  if (!choice.labels.empty()) {
    std::vector<std::string> labels;
    for (const auto& one : all) labels.push_back(names.label(one));
    keep_matching(choice.labels, labels, findings, wanted);
  }
  if (!choice.profiles.empty())
    keep_selected(services, names, choice.profiles, options, findings, wanted);
  std::vector<u32> chosen;
  for (u32 i = 0; i < all.size(); ++i)
    if (wanted[i]) chosen.push_back(i);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](u32 a, u32 b) { return all[a].inclusive > all[b].inclusive; });
  return chosen;
}

}  // namespace coldtrace::cli
