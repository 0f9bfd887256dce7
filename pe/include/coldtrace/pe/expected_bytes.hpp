#pragma once

#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::pe {

// The bytes that an image has in memory at a base before any of its code has run and without what
// it imports: those of the file, zeros where it stores none, addresses adjusted.
class ExpectedBytes {
 public:
  ExpectedBytes(core::Borrowed<ImageTables> file, u64 base);

  // Those of `size` bytes at `rva`, until the next call.
  core::ByteView load(Rva rva, u32 size);

  // The pointer there, as wide as the image's.
  u64 load_pointer(Rva rva);

  // Relocations that are not applied, which machines of today have none of: what they change is
  // not known.
  [[nodiscard]] static bool is_applied(RelocationType type);

 private:
  void relocate(u64 start);

  const Image& image_;
  const std::vector<BaseRelocation>& relocations_;
  u64 distance_;
  std::vector<std::byte> bytes_;
};

}  // namespace coldtrace::pe
