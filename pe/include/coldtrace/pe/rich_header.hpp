#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The header that Microsoft's linkers write between the DOS stub and the PE header: which tools
// made how many of the objects. Not documented by Microsoft. Source: Daniel Pistelli, "Microsoft's
// Rich Signature (undocumented)"; confirmed by its own checksum on linked files.
struct RichHeader {
  struct Entry {
    u16 id;  // of the tool
    u16 build;
    u32 count;  // of objects
  };
  u64 offset;        // of "DanS"
  u32 key;           // with which everything is XORed
  u32 computed_key;  // the checksum of DOS header, stub and entries, which it should equal
  std::vector<Entry> entries;    // in file order
  std::vector<std::byte> clear;  // from "DanS" up to "Rich", without the XOR
};

// Nothing: the image has none, or one of which only the start or the end is left, which is a
// finding.
[[nodiscard]] std::optional<RichHeader> find_rich_header(const Image& image,
                                                         core::Findings& findings);

}  // namespace coldtrace::pe
