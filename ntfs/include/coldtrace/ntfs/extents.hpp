#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/attribute.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"
#include "coldtrace/ntfs/structures/data_runs.hpp"

namespace coldtrace::ntfs {

// Clusters of a stream that are consecutive on the disk.
struct Extent {
  u64 vcn;
  u64 clusters;
  std::optional<Lcn> lcn;  // absent: a hole
  [[nodiscard]] u64 end_vcn() const { return vcn + clusters; }
};

// Where a volume's clusters are in an image.
struct ClusterMap {
  u64 volume_offset = 0;  // bytes from the start of the image
  u32 cluster_size = 0;
  u64 clusters = 0;  // of the volume

  // The byte of the image at which a cluster starts; nothing for one outside the volume.
  [[nodiscard]] std::optional<u64> offset_of(Lcn lcn) const {
    if (static_cast<u64>(lcn) >= clusters) return std::nullopt;
    // A boot sector with more bytes than 64 bits can count is refused, so the product fits.
    return core::checked_add(volume_offset, static_cast<u64>(lcn) * cluster_size);
  }

  // False if some of the `count` clusters at `lcn` are outside the volume.
  [[nodiscard]] bool contains(Lcn lcn, u64 count) const {
    const auto start = static_cast<u64>(lcn);
    return start <= clusters && count <= clusters - start;
  }
};

// What is wrong with the extents of one stream.
struct ExtentFaults {
  std::optional<core::ParseError> runs;  // a run list that cannot be decoded to its end
  bool outside_volume = false;
  bool gap = false;  // clusters of the stream that no run list maps
};

// Appends the extents of one attribute of a stream. The VCNs of a stream only increase: an
// attribute that starts after the end of `extents` leaves a gap, and an overlapping part is
// dropped.
void append_extents(const AttributeFacts& attribute, const ClusterMap& clusters,
                    std::vector<Extent>& extents, ExtentFaults& faults);

// The extents of all attributes of `facts` with this type and name, by lowest VCN.
std::vector<Extent> collect_extents(const RecordFacts& facts, AttributeType type, StoredText name,
                                    const ClusterMap& clusters, ExtentFaults& faults);
std::vector<Extent> collect_extents(std::vector<const AttributeFacts*> parts,
                                    const ClusterMap& clusters, ExtentFaults& faults);

// The extent that contains a VCN.
[[nodiscard]] const Extent* find_extent(std::span<const Extent> extents, u64 vcn);

// Reads bytes of a stream. Holes read as zeros; unmapped bytes are `out_of_bounds`.
core::Result<core::Done> read_stream(const core::ImageSource& image, const ClusterMap& clusters,
                                     std::span<const Extent> extents, u64 position,
                                     std::span<std::byte> destination);

// The byte of the image that holds a byte of a stream; nothing for holes and outside it.
[[nodiscard]] std::optional<u64> find_offset(const ClusterMap& clusters,
                                             std::span<const Extent> extents, u64 position);

}  // namespace coldtrace::ntfs
