#pragma once

#include <span>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// The values of the build of `table` for each request, from: its PDBs and symbol tables, if any;
// the exported functions that read a member; the export directory, the service tables and the other
// contents of the table; and what was `inferred` from other builds, which is used only if there is
// no other source. A required member that no source has is the finding `member-missing`, one that
// the sources put at different places `member-contradiction`: the PDB's value is used against code,
// with low confidence, and there is none if PDBs contradict each other. If they agree on the place
// but not on size or bits, the latter are absent.
[[nodiscard]] std::vector<MemberValue> find_members(std::span<const MemberRequest> requests,
                                                    const KernelView& kernel,
                                                    const HookTable& table,
                                                    std::span<const pe::SymbolFile* const> files,
                                                    std::span<const InferredMember> inferred,
                                                    core::Findings& findings);

}  // namespace coldtrace::syscall_map
