#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// A volume on one side of a comparison, as it was at one time.
struct ComparedView {
  u64 start;                  // byte of the image
  u32 shadow;                 // number of the shadow copy; 0: the present volume
  std::string serial_number;  // empty: not known
  std::string names_key;      // the key of the name hashes; empty: names are not hashed
};

// Pairs of views to compare, by their numbers.
struct VolumePairs {
  struct Pair {
    std::size_t before, after;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  std::vector<std::size_t> before_alone, after_alone;
};

// Pairs views of volumes that start at the same place, or of the only volumes. If one side has
// several views of a volume, those of the same shadow copy. If each side has only one view, they
// are a pair in any case.
[[nodiscard]] VolumePairs pair_volumes(std::span<const ComparedView> before,
                                       std::span<const ComparedView> after);

// `volume-other` and `names-key`: reasons why comparing a pair is meaningless.
void note_pair(const ComparedView& before, const ComparedView& after, core::Findings& findings);

}  // namespace coldtrace::ntfs
