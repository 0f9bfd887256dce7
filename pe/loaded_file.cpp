#include "coldtrace/pe/loaded_file.hpp"

namespace coldtrace::pe {

Likeness compare(const Identity& file, const LoadedFile& loaded) {
  constexpr u64 page = 0x1000;
  const auto pages = [](u64 size) { return (size + page - 1) / page; };
  if (loaded.size_of_image != 0 && pages(loaded.size_of_image) != pages(file.size_of_image))
    return Likeness::other;
  bool proved = false;
  const auto agree = [&](u32 one, u32 other) {
    if (one == 0 || other == 0) return true;
    proved = true;
    return one == other;
  };
  if (!agree(file.time_date_stamp, loaded.time_date_stamp) ||
      !agree(file.checksum, loaded.checksum))
    return Likeness::other;
  if (file.pdb && loaded.pdb && file.pdb->guid && loaded.pdb->guid) {
    if (!same_pdb(*file.pdb, *loaded.pdb)) return Likeness::other;
    proved = true;
  }
  return proved ? Likeness::same : Likeness::unproved;
}

}  // namespace coldtrace::pe
