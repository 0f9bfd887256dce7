#include "coldtrace/syscall-map/hook-profiles/profile_findings.hpp"

#include <fmt/format.h>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"

namespace coldtrace::syscall_map {
namespace {

bool is_glob(const ProfileRule& rule) {
  return rule.kind == ProfileRule::Kind::services &&
         (rule.name.glob || (rule.module && rule.module->glob));
}

}  // namespace

std::string place_text(const HookProfile& profile, const HookProfile::Rule& rule) {
  return fmt::format("{}:{}", place_of(profile, rule.file, rule.text.place),
                     rule.text.place.column);
}

void note_unmatched(const HookProfile& profile, const ServiceCatalogue& catalogue,
                    const ProfileSelection& selection, core::Findings& findings) {
  std::vector<std::string_view> names;
  for (const auto& service : catalogue.services())
    names.insert(names.end(), service.names.begin(), service.names.end());
  core::NoMatch unmatched;
  for (const auto* rule : selection.unmatched())
    unmatched.add(place_text(profile, *rule), to_text(rule->text), names);
  unmatched.report(findings);
  const auto count = static_cast<u32>(catalogue.services().size());
  for (u32 service = 0; service < count; ++service)
    if (selection.is_selected(service)) return;
  findings.warning("profile-empty", std::nullopt, "none of {} is selected",
                   core::counted(count, "service", "services"));
}

void note_uncalled(const ProfileSelection& selection, std::string_view profile,
                   core::Findings& findings) {
  if (const auto unmatched = selection.unmatched().size(); unmatched > 0)
    findings.info("profile-uncalled", std::nullopt, "{} of {} {} no service of the trace",
                  core::counted(unmatched, "rule", "rules"), profile,
                  unmatched == 1 ? "matches" : "match");
}

void note_globs(const HookProfile& profile, core::Findings& findings) {
  const auto note = [&](const std::vector<HookProfile::Rule>& rules) {
    for (const auto& rule : rules)
      if (is_glob(rule.text) && !rule.text.leaves_out)
        findings.warning(
            "profile-globs", std::nullopt,
            "{} ({}) means services that the profile does not name: --against FILE shows which",
            to_text(rule.text), place_text(profile, rule));
  };
  for (const auto& group : profile.groups) note(group.rules);
  note(profile.rules);
}

void note_unused_groups(const HookProfile& profile, core::Findings& findings) {
  for (const auto& group : profile.groups)
    if (!group.used)
      findings.info("profile-group-unused", std::nullopt, "group '{}' is unused ({})", group.name,
                    place_of(profile, group.file, group.place));
}

void note_unnamed(const ServiceCatalogue& catalogue, const ProfileSelection& selection,
                  core::Findings& findings) {
  std::size_t all = 0, unnamed = 0;
  for (u32 index = 0; const auto& service : catalogue.services()) {
    if (!selection.is_selected(index++)) continue;
    ++all;
    if (service.names.empty() || !is_profile_name(service.names.front())) ++unnamed;
  }
  if (unnamed > 0)
    findings.info("profile-unnamed", std::nullopt,
                  "{} of {} selected services {} no name that can be written", unnamed, all,
                  unnamed == 1 ? "has" : "have");
}

}  // namespace coldtrace::syscall_map
