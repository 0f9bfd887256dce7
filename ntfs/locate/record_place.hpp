#pragma once

#include <optional>
#include <vector>

#include "coldtrace/ntfs/locate/place.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/volume.hpp"
#include "ntfs/locate/place_owners.hpp"

namespace coldtrace::ntfs {

// Tells which part of a record a byte of $MFT is.
class RecordPlaces {
 public:
  RecordPlaces(const Volume& volume, const RecordTable& records, PlaceOwners& owners);

  // Nothing for a cluster that is not in $MFT, or beyond its last record.
  std::optional<RecordPlace> find(u64 cluster, u64 byte_of_cluster, core::Findings& findings);

 private:
  struct Piece {
    u64 start;  // LCN
    u64 end;
    u64 vcn;
  };
  void look_inside(RecordPlace& place, core::Findings& findings);

  const Volume& volume_;
  const RecordTable& records_;
  PlaceOwners& owners_;
  std::vector<Piece> pieces_;  // of $MFT, by LCN
  std::vector<std::byte> bytes_;
  RecordFacts facts_;
};

}  // namespace coldtrace::ntfs
