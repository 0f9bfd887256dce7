#pragma once

#include "coldtrace/pe/identity.hpp"

namespace coldtrace::pe {

// What a system that loaded an image says of its file; zeros and absence are "not said".
struct LoadedFile {
  u32 time_date_stamp = 0;
  u32 checksum = 0;
  u32 size_of_image = 0;  // may be rounded up to pages
  std::optional<PdbReference> pdb;
};

// Whether a file is what was loaded.
enum class Likeness : u8 {
  same,
  other,     // a member that both have differs
  unproved,  // they have neither TimeDateStamp nor CheckSum nor the GUID of a PDB in common
};

// Whether the image was loaded from the file with this identity.
[[nodiscard]] Likeness compare(const Identity& file, const LoadedFile& loaded);

}  // namespace coldtrace::pe
