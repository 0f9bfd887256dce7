#pragma once

#include <span>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/syscall-map/hook_table.hpp"
#include "coldtrace/syscall-map/kernel_view.hpp"

namespace coldtrace::syscall_map {

// What the build of `table` says to each request: the PDB, if there is one; the exported functions
// that read a member; the export directory, the service tables and what else the table has found.
// A required member that nothing has is the finding `member-missing`, one that the sources put at
// different places `member-contradiction`: the PDB's value is taken, with low confidence.
std::vector<MemberValue> find_members(std::span<const MemberRequest> requests,
                                      const KernelView& kernel, const HookTable& table,
                                      const pe::SymbolFile* pdb, core::Findings& findings);

}  // namespace coldtrace::syscall_map
