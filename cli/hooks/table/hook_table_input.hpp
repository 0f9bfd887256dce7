#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/hooks/table/known_builds.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"
#include "coldtrace/syscall-map/member_list.hpp"
#include "coldtrace/syscall-map/table-assembly/hook_table_assembly.hpp"

namespace coldtrace::cli {

// Reads the files and makes their table. Nothing if the kernel cannot be read; what is wrong with
// any file is in `report` or among the table's findings. Includes trace points and members if
// requested, the latter also derived from `known` builds.
std::optional<syscall_map::HookTable> make_hook_table(
    const syscall_map::BuildFiles& files, const PeOptions& options,
    std::vector<pe::SymbolFile>& symbols, Report& report,
    const std::vector<std::string>& trace_requests = {},
    const std::vector<syscall_map::MemberRequest>& members = {},
    const KnownBuilds* known = nullptr);

// Reports the findings of each image with its path; those about several images are the kernel's.
void tell_hook_table(const syscall_map::HookTable& table, Report& report);

}  // namespace coldtrace::cli
