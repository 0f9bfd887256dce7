#pragma once

#include <utility>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/security.hpp"
#include "ntfs/volume/security_index.hpp"

namespace coldtrace::ntfs {

// A block of the stream $Secure:$SDS, which starts at byte `position`, and its copy.
struct SecurityBlock {
  core::ByteView main, copy;  // empty if it cannot be read
  u64 position = 0;
};

constexpr u64 security_block_size = u64{256} * 1024;

// Entries of $SDS with a certain fault: how many, and the first.
struct SecurityPlaces {
  u64 count = 0;
  u32 id = 0;
  u64 position = 0;
  void add(u32 other_id, u64 other_position) {
    if (count++ == 0) *this = {1, other_id, other_position};
  }
};

// What is wrong in $Secure.
struct SecurityFaults {
  SecurityPlaces unfit;          // the hash of the descriptor, or of its copy, is wrong
  u64 unused = 0;                // those of them with no usable copy
  SecurityPlaces contradictory;  // $SII, the entry and its copy do not agree on its id
};

// Collects the owners of the descriptors in $SDS. An entry, in the copy too, states the position of
// the original, by which entries after damage are found. Of the two, the one whose hash is right is
// used; if neither is, the descriptor counts only if both are equal. No hash covers the id: it is
// the one that $SII has for the position, by which Windows finds a descriptor, or else the one on
// which both agree.
class SecurityOwnersReader {
 public:
  // `index` is sorted by position.
  explicit SecurityOwnersReader(std::vector<SecurityIndexEntry> index)
      : index_{std::move(index)}, met_(index_.size()) {}

  void add(const SecurityBlock& block);
  // Entries that only $SII has are contradictory.
  [[nodiscard]] SecurityOwners finish();
  [[nodiscard]] const SecurityFaults& faults() const { return faults_; }

 private:
  struct Entry;
  struct Copies;
  void add(const Copies& copies);
  const SecurityIndexEntry* find_listed(const Entry& entry);

  std::vector<SecurityIndexEntry> index_;
  std::vector<bool> met_;  // of index_
  SecurityOwners listed_;
  SecurityOwners unlisted_;  // if $SII has the id at another position, this one is a leftover
  SecurityFaults faults_;
};

}  // namespace coldtrace::ntfs
