#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/pe/load_config.hpp"

namespace coldtrace::pe {

// IMAGE_DYNAMIC_RELOCATION: what its places are, and the blocks that list them.
struct DynamicRelocation {
  u64 symbol;  // below 0x10000 an IMAGE_DYNAMIC_RELOCATION_..., else an address
  core::ByteView blocks;
};

struct DynamicRelocationTable {
  std::vector<DynamicRelocation> relocations;
  std::string_view unread;  // why some or all of them are not read; empty: nothing is missing
};

// IMAGE_DYNAMIC_RELOCATION_TABLE of version 1, the places that the loader or the kernel rewrites;
// empty if the image has none. Source: Windows SDK, winnt.h.
[[nodiscard]] DynamicRelocationTable read_dynamic_relocations(const Image& image,
                                                              const LoadConfig& config);

}  // namespace coldtrace::pe
