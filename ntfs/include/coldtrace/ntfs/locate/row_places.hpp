#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/locate/place.hpp"

namespace coldtrace::ntfs {

// A stream of a file as a row of a snapshot has it.
struct RowStream {
  AttributeType type = AttributeType::data;
  std::string name;
  bool compressed = false;
  std::optional<u64> size, valid;      // bytes
  std::optional<u64> resident_offset;  // of the image; nothing of one with clusters
  std::vector<Extent> extents;
};

// Says whose the bytes at `offsets` of an image are, which are in order, all different, and in
// clusters of the volume, by the rows of a snapshot of it. What needs the image is not known: what
// $Bitmap says, what a byte of $MFT is but of a resident stream's value or a fixup, and whose
// clusters are that no row has. Work on a place ends with `most_claims` of it, whatever the rows
// say.
class RowPlaces {
 public:
  static constexpr u32 most_claims = 4096;

  // $MFT's records have `record_size` bytes and lie in `mft`.
  RowPlaces(const ClusterMap& map, u32 record_size, std::span<const Extent> mft,
            std::span<const u64> offsets);

  // A row, whose streams those of further names of the file repeat.
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
  std::vector<u32> claims_;          // of each place, how many were looked at
  std::vector<std::size_t> in_mft_;  // places in $MFT, by record
  std::unordered_set<u64> files_;    // that have a place
};

}  // namespace coldtrace::ntfs
