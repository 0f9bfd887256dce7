#pragma once

#include <vector>

#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

// What of KeServiceDescriptorTable and its siblings, and of the limits and argument tables that lie
// where the program may write, is not what the file makes of it. A descriptor of zeros alone is one
// that was not filled in yet.
[[nodiscard]] std::vector<ChangedServiceValue> find_changed_service_values(
    const KernelView& view, const pe::ModuleDump& dump,
    const std::vector<LocatedServiceTable>& tables, const std::vector<NamedPlace>& names,
    const std::vector<pe::KnownModule>& known);

}  // namespace coldtrace::syscall_map
