#include "coldtrace/ntfs/locate/place_finder.hpp"

#include "ntfs/locate/cluster_claims.hpp"
#include "ntfs/locate/place_owners.hpp"
#include "ntfs/locate/record_place.hpp"
#include "ntfs/volume/allocation_bitmap.hpp"

namespace coldtrace::ntfs {

std::vector<Place> find_places(const Volume& volume, const RecordTable& records,
                               std::span<const u64> offsets, core::Findings& findings) {
  const auto& map = volume.mft().clusters();
  std::vector<Place> places(offsets.size());
  std::vector<u64> clusters(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    places[i].offset = offsets[i];
    places[i].cluster = clusters[i] = (offsets[i] - map.volume_offset) / map.cluster_size;
  }
  auto found = find_cluster_claims(volume.mft(), records, clusters, most_place_owners);
  PlaceOwners owners{volume, records};
  owners.add(std::move(found.claims), places);
  RecordPlaces in_mft{volume, records, owners};
  AllocationBitmap bitmap{volume};
  u64 unknown = 0;  // places
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto& place = places[i];
    place.more_owners = found.more[i];
    place.allocated = bitmap.is_allocated(place.cluster);
    if (!place.allocated) ++unknown;
    place.record =
        in_mft.find(place.cluster, (place.offset - map.volume_offset) % map.cluster_size, findings);
    place.holds = holds_of(place);
    const bool used = !place.owners.empty() && place.owners.front().state != State::deleted;
    if (used && place.allocated == false)
      findings.warning("cluster-bitmap", place.offset,
                       "cluster {} belongs to record {}, but $Bitmap says that it is free",
                       place.cluster, place.owners.front().file.record);
    if (place.holds == Holds::unclaimed)
      findings.info("cluster-unclaimed", place.offset,
                    "$Bitmap says that cluster {} is in use, but no record in use has it",
                    place.cluster);
  }
  if (unknown > 0)
    findings.warning(
        "bitmap-unread", std::nullopt,
        "$Bitmap does not say whether the {} in use: it cannot be read, or ends before them",
        unknown == 1 ? std::string{"cluster of 1 place is"}
                     : fmt::format("clusters of {} places are", unknown));
  return places;
}

}  // namespace coldtrace::ntfs
