#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/module_dump.hpp"
#include "coldtrace/pe/patch_sites.hpp"

namespace coldtrace::pe {

// Consecutive bytes that differ from the file; a few equal ones may lie between them.
struct ByteChange {
  Rva rva{};
  u32 size = 0;
  u32 bytes = 0;               // number of differing bytes
  std::optional<u32> section;  // index; nothing: in the headers
};

// Consecutive pages that are zeros where the file has other bytes.
struct AbsentPages {
  Rva rva{};
  u64 size = 0;  // bytes
};

// The differences between a module in memory and its file.
struct DumpComparison {
  std::vector<ByteChange> changes;      // by RVA, without those that a rule explains
  std::vector<PatchSite> patched_code;  // sites of writes_code() that differ from the file
  struct Rule {
    u64 sites = 0;
    u64 changed = 0;
  };
  std::array<Rule, patch_rule_count> rules;
  std::vector<AbsentPages> absent;
  u64 absent_bytes = 0;
  u64 compared_bytes = 0;   // not counting absent ones
  u64 written_bytes = 0;    // of writable sections, which are not compared
  u64 discarded_bytes = 0;  // of a driver's sections that are freed after initialization
  u64 missing_bytes = 0;    // after the end of the dump
};

// Number of changes that are kept; the finding `change-limit` counts the rest.
inline constexpr std::size_t most_changes = 16'384;

// The differences of the headers and of read-only sections from the file as the loader maps it.
// Pages that are not present are `dump-absent`, an early end is `dump-truncated`. A whole page of
// zeros is taken as absent. `sites` are those of find_patch_sites().
[[nodiscard]] DumpComparison compare_dump(const ImageTables& file, const ModuleDump& dump,
                                          const std::vector<PatchSite>& sites,
                                          core::Findings& findings);

}  // namespace coldtrace::pe
