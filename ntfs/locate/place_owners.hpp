#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/ntfs/locate/place.hpp"
#include "coldtrace/ntfs/path_chain.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/volume.hpp"
#include "ntfs/locate/cluster_claims.hpp"

namespace coldtrace::ntfs {

// Turns claims into owners: whose record it is, and where in which of its streams the byte lies.
class PlaceOwners {
 public:
  PlaceOwners(const Volume& volume, const RecordTable& records)
      : volume_{volume}, records_{records}, chain_{records} {}

  // Adds their owners to the places.
  void add(std::vector<ClusterClaim> claims, std::span<Place> places);

  // What is known of a file, without its streams.
  PlaceOwner describe(const RecordFacts& facts);

  // The file to which a record belongs: its base if both agree, else itself.
  u64 file_of(u64 record);

 private:
  using Claims = std::span<const ClusterClaim>;  // of one file, by place

  void add_of_file(u64 file, Claims claims, std::span<Place> places);
  std::vector<ClusterClaim> add_streams(const RecordFacts& facts, Claims claims,
                                        std::span<Place> places);

  const Volume& volume_;
  const RecordTable& records_;
  PathChain chain_;
  RecordFacts facts_;
  RecordFacts base_;
};

}  // namespace coldtrace::ntfs
