#pragma once

#include <span>

#include "coldtrace/pe/address_map.hpp"

namespace coldtrace::pe {

// How many of the image's tables are found when its bytes are read as a file and as loaded. Only
// tables count that the two readings expect at different places.
struct LayoutEvidence {
  unsigned file = 0;
  unsigned memory = 0;

  bool proves_memory() const { return memory > file; }
  bool contradicts_itself() const { return memory > 0 && file > 0; }
};

LayoutEvidence find_layout_evidence(const core::FileView& file, Machine machine,
                                    const OptionalHeader& optional,
                                    std::span<const SectionHeader> sections);

// The first section whose two places differ starts with nothing but zeros, up to where it would be
// loaded: dumps have that gap after their headers, hardly any file does. Costs one small read.
bool has_gap_of_zeros(const core::FileView& file, const OptionalHeader& optional,
                      std::span<const SectionHeader> sections);

}  // namespace coldtrace::pe
