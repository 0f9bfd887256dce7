#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/locate/place.hpp"

namespace coldtrace::ntfs {

// A stream of a file as in a row of a snapshot.
struct RowStream {
  AttributeType type = AttributeType::data;
  std::string name;  // exact text
  bool compressed = false;
  std::optional<u64> size, valid;      // bytes
  std::optional<u64> resident_offset;  // of the image; nothing for one with clusters
  std::vector<Extent> extents;
};

// The owners of the bytes at `offsets` of an image, which are in order, all different, and in
// clusters of the volume, according to the rows of a snapshot of it. What requires the image is
// unknown: what $Bitmap says, the role of a $MFT byte except in a resident stream's value or a
// fixup, and the owner of clusters that are in no row. Work on a place ends after `most_claims` of
// it, whatever the rows say.
class RowPlaces {
 public:
  static constexpr u32 most_claims = 4096;

  // $MFT's records have `record_size` bytes and lie in `mft`.
  RowPlaces(const ClusterMap& map, u32 record_size, std::span<const Extent> mft,
            std::span<const u64> offsets);

  // A row; the streams of further names of the file are repetitions.
  void add(const PlaceOwner& file, std::span<const RowStream> streams);

  // One for each offset, in their order; to be called once, after all rows.
  [[nodiscard]] std::vector<Place> take();

 private:
  bool add_stream(const PlaceOwner& file, const RowStream& stream);
  void add_resident(const PlaceOwner& file, const RowStream& stream);
  void add_owner(Place& place, PlaceOwner owner);

  ClusterMap map_;
  std::vector<Place> places_;
  std::vector<u64> clusters_;
  std::vector<u32> claims_;          // for each place, the number examined
  std::vector<std::size_t> in_mft_;  // places in $MFT, by record
  std::unordered_set<u64> files_;    // that contain a place
};

}  // namespace coldtrace::ntfs
