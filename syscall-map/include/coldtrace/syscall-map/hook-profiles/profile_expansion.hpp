#pragma once

#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

namespace coldtrace::syscall_map {

// Every service that the profile has by its name, whether selected or not: what it can be expanded
// to without any other list. A name that stands somewhere with a module is of that module.
[[nodiscard]] ServiceCatalogue list_named_services(const HookProfile& profile);

// The selected services as a profile: their names, in the order of the catalogue. A name has its
// module only where another module has it and it is not selected there, and else stands once.
// Services without a name, or with one that no profile can say, are not among them.
[[nodiscard]] ProfileFile expand(const ProfileSelection& selection,
                                 const ServiceCatalogue& catalogue);

}  // namespace coldtrace::syscall_map
