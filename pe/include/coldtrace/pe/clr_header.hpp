#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// IMAGE_COR20_HEADER, which makes an image one of .NET. Source: ECMA-335, II.25.3.3.
struct ClrHeader {
  u16 major_runtime_version;
  u16 minor_runtime_version;
  u32 flags;  // 1 IL only, 2 needs 32 bits, 8 strong name, 0x10 native entry point
  // "v4.0.30319" from the metadata root; empty if that cannot be read.
  std::string_view metadata_version;
};

// Fails if the header is not in the file; nothing without one.
core::Result<std::optional<ClrHeader>> read_clr_header(const Image& image);

}  // namespace coldtrace::pe
