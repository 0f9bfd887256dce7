#pragma once

#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

namespace coldtrace::syscall_map {

// Every service that the profile names, whether selected or not: the services of an expansion
// without any other list. A name that occurs with a module belongs to that module.
[[nodiscard]] ServiceCatalogue list_named_services(const HookProfile& profile);

// The selected services as a profile: their names, in the order of the catalogue. A name has its
// module only if another module has the name and it is not selected there; otherwise it occurs
// once. Services without a name, or with a name that no profile can contain, are left out.
[[nodiscard]] ProfileFile expand(const ProfileSelection& selection,
                                 const ServiceCatalogue& catalogue);

}  // namespace coldtrace::syscall_map
