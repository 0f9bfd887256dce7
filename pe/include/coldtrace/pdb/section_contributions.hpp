#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// A range of a section that comes from one module. Source: LLVM, "The PDB DBI (Debug Info) Stream",
// Section Contribution Substream.
struct SectionContribution {
  u16 section;  // counts from 1
  u32 offset;   // in the section
  u32 size;
  u32 characteristics;  // as those of a section
  u16 module;           // counts from 0
};

// Which module the bytes of an image come from.
class SectionContributions {
 public:
  // In either of the two versions. Damage is the finding `pdb-stream`.
  [[nodiscard]] static SectionContributions read(const Pdb& pdb, core::Findings& findings);

  // By section and offset.
  [[nodiscard]] std::span<const SectionContribution> all() const { return contributions_; }

  // The number of the module that contains the byte; of two that overlap, the one that begins
  // later.
  [[nodiscard]] std::optional<u16> find_module(u16 section, u32 offset) const;

 private:
  std::vector<SectionContribution> contributions_;
};

}  // namespace coldtrace::pe
