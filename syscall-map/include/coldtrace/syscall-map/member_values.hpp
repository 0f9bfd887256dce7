#pragma once

#include <span>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// What the build of `table` says to each request: the PDBs and symbol tables of it, if there are
// any; the exported functions that read a member; the export directory, the service tables and what
// else the table has found; what was `inferred` from other builds, whose word counts where there is
// no other. A required member that nothing has is the finding `member-missing`, one
// that the sources put at different places `member-contradiction`: the value of the PDB is taken
// against code, with low confidence, and none where PDBs contradict each other. Where they agree on
// the place, and not on size or bits, these are absent.
[[nodiscard]] std::vector<MemberValue> find_members(std::span<const MemberRequest> requests,
                                                    const KernelView& kernel,
                                                    const HookTable& table,
                                                    std::span<const pe::SymbolFile* const> files,
                                                    std::span<const InferredMember> inferred,
                                                    core::Findings& findings);

}  // namespace coldtrace::syscall_map
