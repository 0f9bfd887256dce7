#pragma once

#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

namespace coldtrace::syscall_map {

// What a profile says in vain or leaves open, as findings whose codes docs/findings.md has.

// "tracer.profile:3:14"
[[nodiscard]] std::string place_text(const HookProfile& profile, const HookProfile::Rule& rule);

// `no-match`: rules that speak of no service; `profile-empty`: that no service is selected.
void note_unmatched(const HookProfile& profile, const ServiceCatalogue& catalogue,
                    const ProfileSelection& selection, core::Findings& findings);
// `profile-uncalled`: how many rules speak of no service, where a trace is what has the services.
void note_uncalled(const ProfileSelection& selection, std::string_view profile,
                   core::Findings& findings);
// `profile-globs`: of a profile whose own names are the services, what only a list of services
// tells the meaning of.
void note_globs(const HookProfile& profile, core::Findings& findings);
// `profile-group-unused`.
void note_unused_groups(const HookProfile& profile, core::Findings& findings);
// `profile-unnamed`: selected services that no line of a profile can stand for.
void note_unnamed(const ServiceCatalogue& catalogue, const ProfileSelection& selection,
                  core::Findings& findings);

}  // namespace coldtrace::syscall_map
