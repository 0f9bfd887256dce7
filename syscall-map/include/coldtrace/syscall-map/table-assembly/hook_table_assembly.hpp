#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"

namespace coldtrace::syscall_map {

// Contents of a hook table in addition to what build_hook_table() finds itself.
struct HookTableRequests {
  std::span<const std::string> trace_points = {};
  std::span<const MemberRequest> members = {};
  // Builds with types, for members that this build does not show, and signatures that find
  // functions in both.
  std::span<const KnownBuild> known = {};
  std::span<const Signature> signatures = {};
};

// The table of a kernel, which is the first of the sources, and its other images. Includes the
// names from the symbol files that belong to the kernel, and the requested trace points and
// members. Findings about these are in `findings`, the rest in the table's own.
[[nodiscard]] HookTable assemble_hook_table(std::span<const HookTableSource> sources,
                                            std::span<pe::SymbolFile> symbols,
                                            const HookTableRequests& requests,
                                            core::Findings& findings);

// Reports symbol files that belong to no kernel of the builds as `pdb-mismatch`. If none belongs to
// any, each build reports it already, and nothing is added.
void note_unused_symbols(std::span<const pe::SymbolFile> symbols, std::span<const HookTable> builds,
                         core::Findings& findings);

}  // namespace coldtrace::syscall_map
