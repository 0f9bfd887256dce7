#pragma once

#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::pe {

// The bytes of an image in memory at a base before any of its code has run and before imports are
// resolved: those of the file, zeros where it stores none, addresses adjusted.
class ExpectedBytes {
 public:
  ExpectedBytes(core::Borrowed<ImageTables> file, u64 base);

  // The `size` bytes at `rva`, valid until the next call.
  core::ByteView load(Rva rva, u32 size);

  // The pointer there, of the image's pointer size.
  u64 load_pointer(Rva rva);

  // Relocations that are not applied, which today's machines do not have: what they change is
  // unknown.
  [[nodiscard]] static bool is_applied(RelocationType type);

 private:
  void relocate(u64 start);

  const Image& image_;
  const std::vector<BaseRelocation>& relocations_;
  u64 distance_;
  std::vector<std::byte> bytes_;
};

}  // namespace coldtrace::pe
