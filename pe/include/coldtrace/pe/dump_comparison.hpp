#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/module_dump.hpp"
#include "coldtrace/pe/patch_sites.hpp"

namespace coldtrace::pe {

// Bytes in a row that are not those of the file; a few that are may lie between them.
struct ByteChange {
  Rva rva{};
  u32 size = 0;
  u32 bytes = 0;               // that differ
  std::optional<u32> section;  // index; nothing: in the headers
};

// Pages in a row that are zeros where the file has other bytes.
struct AbsentPages {
  Rva rva{};
  u64 size = 0;  // bytes
};

// What of a module in memory differs from its file.
struct DumpComparison {
  std::vector<ByteChange> changes;      // by RVA, without what a rule explains
  std::vector<PatchSite> patched_code;  // sites of writes_code() that are not as in the file
  struct Rule {
    u64 sites = 0;
    u64 changed = 0;
  };
  std::array<Rule, patch_rule_count> rules;
  std::vector<AbsentPages> absent;
  u64 absent_bytes = 0;
  u64 compared_bytes = 0;   // those that are absent apart
  u64 written_bytes = 0;    // of writable sections, which are not compared
  u64 discarded_bytes = 0;  // of a driver's sections that are freed once it has started
  u64 missing_bytes = 0;    // behind the end of the dump
};

// Changes that are kept; more are counted by the finding `change-limit`.
inline constexpr std::size_t most_changes = 16'384;

// What of the headers and of sections that nothing writes is other than the file as the loader maps
// it. Pages that are not there are `dump-absent`, an early end is `dump-truncated`. Zeros in a
// whole page are taken for absence. `sites` are those of find_patch_sites().
[[nodiscard]] DumpComparison compare_dump(const ImageTables& file, const ModuleDump& dump,
                                          const std::vector<PatchSite>& sites,
                                          core::Findings& findings);

}  // namespace coldtrace::pe
