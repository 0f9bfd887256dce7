#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"

namespace coldtrace::syscall_map {

// What a hook table is to have beside what build_hook_table() finds by itself.
struct HookTableRequests {
  std::span<const std::string> trace_points = {};
  std::span<const MemberRequest> members = {};
  // Builds that have types, for members that nothing of this one shows, and what finds functions in
  // both.
  std::span<const KnownBuild> known = {};
  std::span<const Signature> signatures = {};
};

// The table of a kernel, the first of the sources, and its other images, with the names of those of
// the symbol files that belong to the kernel, and with the trace points and members that are asked
// for. What there is to say of these is in `findings`, of the rest in the table's own.
[[nodiscard]] HookTable assemble_hook_table(std::span<const HookTableSource> sources,
                                            std::span<pe::SymbolFile> symbols,
                                            const HookTableRequests& requests,
                                            core::Findings& findings);

// Tells as `pdb-mismatch` of symbol files that are of no kernel of the builds. Where none is of
// any, each build tells it already, and nothing is added.
void note_unused_symbols(std::span<const pe::SymbolFile> symbols, std::span<const HookTable> builds,
                         core::Findings& findings);

}  // namespace coldtrace::syscall_map
