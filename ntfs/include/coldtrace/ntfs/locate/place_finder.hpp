#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/locate/place.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

constexpr std::size_t most_place_owners = 16;  // reported for one byte

// The owners of the bytes at `offsets` of the image, which are in order, all different, and in
// clusters of the volume: in one pass over its records, however many bytes there are.
[[nodiscard]] std::vector<Place> find_places(const Volume& volume, const RecordTable& records,
                                             std::span<const u64> offsets,
                                             core::Findings& findings);

}  // namespace coldtrace::ntfs
