#pragma once

#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

namespace coldtrace::syscall_map {

// Rules without effect and open questions of a profile, as findings; docs/findings.md describes
// their codes.

// "tracer.profile:3:14"
[[nodiscard]] std::string place_text(const HookProfile& profile, const HookProfile::Rule& rule);

// `no-match`: rules that apply to no service; `profile-empty`: no service is selected.
void note_unmatched(const HookProfile& profile, const ServiceCatalogue& catalogue,
                    const ProfileSelection& selection, core::Findings& findings);
// `profile-uncalled`: number of rules that apply to no service, if the services come from a trace.
void note_uncalled(const ProfileSelection& selection, std::string_view profile,
                   core::Findings& findings);
// `profile-globs`: for a profile whose own names are the services, the globs whose meaning depends
// on a list of services.
void note_globs(const HookProfile& profile, core::Findings& findings);
// `profile-group-unused`.
void note_unused_groups(const HookProfile& profile, core::Findings& findings);
// `profile-unnamed`: selected services that no line of a profile can express.
void note_unnamed(const ServiceCatalogue& catalogue, const ProfileSelection& selection,
                  core::Findings& findings);

}  // namespace coldtrace::syscall_map
