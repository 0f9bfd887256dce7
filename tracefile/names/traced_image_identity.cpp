#include "coldtrace/tracefile/names/traced_image_identity.hpp"

namespace coldtrace::tracefile {

bool is_traced_image(const TracedImage& image, const TracedImage& traced) {
  if (!traced.known() || image.time_date_stamp != traced.time_date_stamp ||
      image.size_of_image != traced.size_of_image || image.checksum != traced.checksum)
    return false;
  constexpr core::Guid none;
  if (image.pdb_guid == none || traced.pdb_guid == none) return true;
  return image.pdb_guid == traced.pdb_guid && image.pdb_age == traced.pdb_age;
}

}  // namespace coldtrace::tracefile
