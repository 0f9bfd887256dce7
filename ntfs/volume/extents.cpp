#include "coldtrace/ntfs/extents.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {

using core::Fault;

void append_extents(const AttributeFacts& attribute, const ClusterMap& clusters,
                    std::vector<Extent>& extents, ExtentFaults& faults) {
  constexpr u64 largest_vcn = ~u64{0} >> 1;
  u64 vcn = attribute.lowest_vcn;
  const u64 known = extents.empty() ? 0 : extents.back().end_vcn();
  if (vcn != known) faults.gap = true;
  DataRunReader runs{attribute.runs, attribute.runs_offset};
  while (auto run = runs.next()) {
    const u64 left = largest_vcn - vcn;
    if (run->clusters > left) {
      faults.runs = core::ParseError{
          Fault::out_of_bounds, attribute.runs_offset, "mapping pairs", "Length", left,
          run->clusters};
      break;
    }
    if (run->start && !clusters.contains(*run->start, run->clusters)) faults.outside_volume = true;
    if (vcn >= known) extents.push_back({vcn, run->clusters, run->start});
    vcn += run->clusters;
  }
  if (runs.damage()) faults.runs = runs.damage();
  if (vcn - attribute.lowest_vcn != attribute.cluster_count) faults.gap = true;
}

std::vector<Extent> collect_extents(const RecordFacts& facts, AttributeType type, StoredText name,
                                    const ClusterMap& clusters, ExtentFaults& faults) {
  std::vector<const AttributeFacts*> parts;
  for (const auto& attribute : facts.attributes)
    if (attribute.type == type && !attribute.resident && attribute.name == name)
      parts.push_back(&attribute);
  return collect_extents(std::move(parts), clusters, faults);
}

std::vector<Extent> collect_extents(std::vector<const AttributeFacts*> parts,
                                    const ClusterMap& clusters, ExtentFaults& faults) {
  std::ranges::stable_sort(parts, {}, &AttributeFacts::lowest_vcn);
  std::vector<Extent> extents;
  for (const auto* part : parts) append_extents(*part, clusters, extents, faults);
  return extents;
}

const Extent* find_extent(std::span<const Extent> extents, u64 vcn) {
  const auto after = std::ranges::upper_bound(extents, vcn, {}, &Extent::vcn);
  if (after == extents.begin()) return nullptr;
  const auto& extent = *std::prev(after);
  return vcn < extent.end_vcn() ? &extent : nullptr;
}

core::Result<core::Done> read_stream(const core::ImageSource& image, const ClusterMap& clusters,
                                     std::span<const Extent> extents, u64 position,
                                     std::span<std::byte> destination) {
  while (!destination.empty()) {
    const auto* extent = find_extent(extents, position / clusters.cluster_size);
    if (!extent)
      return core::fail({Fault::out_of_bounds, position, "stream", "Vcn",
                         extents.empty() ? 0 : extents.back().end_vcn(),
                         position / clusters.cluster_size});
    const u64 start = core::saturating_multiply(extent->vcn, clusters.cluster_size);
    const u64 end = core::saturating_multiply(extent->end_vcn(), clusters.cluster_size);
    const auto count = std::min<u64>(destination.size(), end - position);
    const auto part = destination.first(count);
    if (extent->lcn) {
      const auto offset = clusters.offset_of(*extent->lcn);
      if (!offset)
        return core::fail({Fault::out_of_bounds, position, "stream", "Lcn", clusters.clusters,
                           static_cast<u64>(*extent->lcn)});
      if (auto read = image.read_at(core::saturating_add(*offset, position - start), part); !read)
        return core::fail(read.error());
    } else {
      std::ranges::fill(part, std::byte{0});
    }
    destination = destination.subspan(count);
    position += count;
  }
  return core::Done{};
}

std::optional<u64> find_offset(const ClusterMap& clusters, std::span<const Extent> extents,
                               u64 position) {
  const auto* extent = find_extent(extents, position / clusters.cluster_size);
  if (!extent || !extent->lcn) return std::nullopt;
  const auto offset = clusters.offset_of(*extent->lcn);
  if (!offset) return std::nullopt;
  // Inside an extent, so the difference is below its size in bytes.
  return core::checked_add(*offset, position - extent->vcn * clusters.cluster_size);
}

}  // namespace coldtrace::ntfs
