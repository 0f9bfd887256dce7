#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/hooks/table/known_builds.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/pe_input.hpp"
#include "coldtrace/syscall-map/build_pairing.hpp"
#include "coldtrace/syscall-map/hook_table_builder.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::cli {

// Reads the files and makes their table. Nothing when the kernel cannot be read; what is wrong with
// any file is in `report` or among the table's findings. With trace points and members where these
// are asked for, the latter also as `known` builds show them.
std::optional<syscall_map::HookTable> make_hook_table(
    const syscall_map::BuildFiles& files, const PeOptions& options,
    const std::vector<pe::SymbolFile>& symbols, Report& report,
    const std::vector<std::string>& trace_requests = {},
    const std::vector<syscall_map::MemberRequest>& members = {},
    const KnownBuilds* known = nullptr);

// That a file of symbols is of none of the builds, where another one is of some, as `pdb-mismatch`;
// that a build finds none at all, the build itself tells.
void report_unused_symbols(const std::vector<pe::SymbolFile>& symbols,
                           const std::vector<syscall_map::HookTable>& builds,
                           core::Findings& findings);

}  // namespace coldtrace::cli
