#pragma once

#include <vector>

#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

// What differs from the file in KeServiceDescriptorTable and its siblings, and in those limits and
// argument tables that lie in writable memory. A descriptor of zeros is one that was not filled in
// yet.
[[nodiscard]] std::vector<ChangedServiceValue> find_changed_service_values(
    const KernelView& view, const pe::ModuleDump& dump,
    const std::vector<LocatedServiceTable>& tables, const std::vector<NamedPlace>& names,
    const std::vector<pe::KnownModule>& known);

}  // namespace coldtrace::syscall_map
