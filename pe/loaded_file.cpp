#include "coldtrace/pe/loaded_file.hpp"

namespace coldtrace::pe {

Likeness compare(const Identity& file, const LoadedFile& loaded) {
  constexpr u64 page = 0x1000;
  const auto pages = [](u64 size) { return (size + page - 1) / page; };
  if (loaded.size_of_image != 0 && pages(loaded.size_of_image) != pages(file.size_of_image))
    return Likeness::other;
  bool proved = false;
  const auto agree = [&](const auto& one, const auto& other, const auto& unsaid) {
    if (one == unsaid || other == unsaid) return true;
    proved = true;
    return one == other;
  };
  if (!agree(file.time_date_stamp, loaded.time_date_stamp, 0U) ||
      !agree(file.checksum, loaded.checksum, 0U))
    return Likeness::other;
  if (file.pdb && loaded.pdb &&
      (!agree(file.pdb->guid, loaded.pdb->guid, std::nullopt) ||
       (file.pdb->guid && loaded.pdb->guid && file.pdb->age != loaded.pdb->age)))
    return Likeness::other;
  return proved ? Likeness::same : Likeness::unproved;
}

}  // namespace coldtrace::pe
