#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// IMAGE_LOAD_CONFIG_DIRECTORY32 or ...64, the relevant fields. It has grown with every Windows
// version: a field after its declared size is absent. Addresses are absolute, at the preferred
// base. Source: Windows SDK, winnt.h.
struct LoadConfig {
  u32 size;  // as declared
  u32 time_date_stamp;
  std::optional<u64> lock_prefix_table;  // addresses of LOCK prefixes, ended by 0
  std::optional<u64> security_cookie;
  std::optional<u64> se_handler_table;  // x86: RVAs of the allowed exception handlers
  std::optional<u64> se_handler_count;
  std::optional<u64> guard_function_table;
  std::optional<u64> guard_function_count;
  std::optional<u32> guard_flags;
  std::optional<u64> chpe_metadata;  // code of two machines in one image
  // The places of the pointers that the loader sets to its own functions, by their field's name:
  // GuardCFCheckFunctionPointer and related ones. Those that are 0 are left out.
  struct Pointer {
    std::string_view name;
    u64 address;
  };
  std::vector<Pointer> loader_pointers;
  // IMAGE_DYNAMIC_RELOCATION_TABLE: an offset into the section of that number, from 1.
  std::optional<u32> dynamic_relocations_offset;
  std::optional<u16> dynamic_relocations_section;
};

// Nothing if the image has none.
core::Result<std::optional<LoadConfig>> read_load_config(const Image& image);

}  // namespace coldtrace::pe
