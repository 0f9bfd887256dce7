#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// IMAGE_REL_BASED_*; some numbers mean something else on each machine. Source: Microsoft, "PE
// Format", "Base Relocation Types".
enum class RelocationType : u8 {
  absolute = 0,  // padding, never listed
  high = 1,
  low = 2,
  highlow = 3,  // 32-bit address
  highadj = 4,
  arm_mov32 = 5,
  thumb_mov32 = 7,
  dir64 = 10,  // 64-bit address
};

// A place that the loader adjusts to the image's address.
struct BaseRelocation {
  Rva address;
  RelocationType type;
};

// All places that the loader adjusts if the image is not at its preferred base, ascending. Source:
// Microsoft, "PE Format", .reloc section. A damaged block ends the list with a finding.
[[nodiscard]] std::vector<BaseRelocation> read_base_relocations(const Image& image,
                                                                core::Findings& findings);

// Their number.
[[nodiscard]] u64 count_base_relocations(const Image& image, core::Findings& findings);

}  // namespace coldtrace::pe
