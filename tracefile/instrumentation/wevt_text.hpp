#pragma once

#include <string>

#include "coldtrace/tracefile/instrumentation/wevt_resource.hpp"

namespace coldtrace::tracefile {

// Reads the texts of one structure of a resource. No two rows share one, so that all together are
// never longer than the resource; ones that overlap would be, and are refused.
class WevtTexts {
 public:
  explicit WevtTexts(const WevtResource& resource)
      : resource_{resource}, room_{resource.bytes.size()} {}

  // u32 size of itself, the text and what fills it up to a multiple of 4; the text ends at its
  // first NUL. Empty where `offset` is 0.
  core::Result<std::string> read_sized(u32 offset);
  // Without a size, up to a NUL.
  core::Result<std::string> read_bare(u32 offset);

 private:
  core::Result<std::string> decode(core::ByteView units, u32 offset);

  const WevtResource& resource_;
  u64 room_;
};

}  // namespace coldtrace::tracefile
