#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// A volume of one side of a comparison, as it was at one time.
struct ComparedView {
  u64 start;                  // byte of the image
  u32 shadow;                 // number of the shadow copy; 0: as it is now
  std::string serial_number;  // empty: not known
  std::string names_key;      // by what its names are hashed; empty: they are as they are
};

// Which views are compared with which, by their numbers.
struct VolumePairs {
  struct Pair {
    std::size_t before, after;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  std::vector<std::size_t> before_alone, after_alone;
};

// Views of volumes that start at the same place, or of the only volumes: of the same shadow copy
// where one side has several views of a volume. Two that are alone are a pair whatever they are.
[[nodiscard]] VolumePairs pair_volumes(std::span<const ComparedView> before,
                                       std::span<const ComparedView> after);

// `volume-other` and `names-key`: what makes a comparison of a pair mean nothing.
void note_pair(const ComparedView& before, const ComparedView& after, core::Findings& findings);

}  // namespace coldtrace::ntfs
