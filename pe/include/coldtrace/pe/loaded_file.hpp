#pragma once

#include "coldtrace/pe/identity.hpp"

namespace coldtrace::pe {

// What a system that loaded an image says about its file; zeros and absence mean "not stated".
struct LoadedFile {
  u32 time_date_stamp = 0;
  u32 checksum = 0;
  u32 size_of_image = 0;  // may be rounded up to pages
  std::optional<PdbReference> pdb;
};

// Whether a file is the loaded one.
enum class Likeness : u8 {
  same,
  other,     // a member that both have differs
  unproved,  // they have no TimeDateStamp, CheckSum or GUID of a PDB in common
};

// Whether the image was loaded from the file with this identity.
[[nodiscard]] Likeness compare(const Identity& file, const LoadedFile& loaded);

}  // namespace coldtrace::pe
