#include "ntfs/volume/directory_index.hpp"

#include <algorithm>
#include <bit>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr auto misallocated =
    "uses more than it says is allocated, or says that more is allocated than there is";

std::vector<std::byte> read_bitmap(const core::ImageSource& image, const Mft& mft,
                                   const RecordFacts& facts, u64 bytes, core::Findings& findings) {
  std::vector<std::byte> bits(bytes);
  const auto* bitmap = facts.find(AttributeType::bitmap, directory_index_name);
  if (bitmap && bitmap->resident) {
    std::ranges::copy(bitmap->value.first(std::min<u64>(bytes, bitmap->value.size())),
                      bits.begin());
    return bits;
  }
  if (bitmap) {
    ExtentFaults faults;
    const auto extents =
        collect_extents(facts, AttributeType::bitmap, bitmap->name, mft.clusters(), faults);
    const auto used = std::span{bits}.first(std::min<u64>(bytes, bitmap->size));
    if (read_stream(image, mft.clusters(), extents, 0, used)) return bits;
  }
  // Without it every buffer counts.
  findings.warning("index-bitmap", mft.offset_of(facts.record),
                   "the bitmap of the index of directory {} is not usable", facts.record);
  std::ranges::fill(bits, std::byte{0xff});
  return bits;
}

}  // namespace

std::optional<DirectoryIndex> read_directory_index(const core::ImageSource& image, const Mft& mft,
                                                   const RecordFacts& facts, u64 most_buffers,
                                                   core::Findings& findings) {
  const u64 at = mft.offset_of(facts.record).value_or(0);
  const u32 cluster_size = mft.clusters().cluster_size;
  DirectoryIndex index;
  const auto* root = facts.find(AttributeType::index_root, directory_index_name);
  const auto* allocation = facts.find(AttributeType::index_allocation, directory_index_name);
  // Record 11 and its like have view indexes only where they have no $I30.
  if (!root || root->value.empty()) {
    findings.warning("index-root", at, "directory {} has no $INDEX_ROOT", facts.record);
    if (!allocation) return std::nullopt;
  } else {
    const u64 record_at = mft.offset_of(root->record).value_or(0);
    const auto read = read_index_root(root->value, record_at + root->value_offset);
    if (read) {
      index.buffer_size = read->buffer_size;
      index.root = read->node;
      if (read->node.misallocated)
        findings.warning("index-root", at, "the root of the index of directory {} {}", facts.record,
                         misallocated);
    } else {
      findings.warning("index-root", read.error());
    }
  }
  const u32 unit = index_vcn_unit(index.buffer_size, cluster_size);
  index.vcn_shift = static_cast<u8>(std::countr_zero(index.buffer_size / unit));
  if (!allocation) return index;
  ExtentFaults faults;
  index.extents = collect_extents(facts, AttributeType::index_allocation, allocation->name,
                                  mft.clusters(), faults);
  index.cut = faults.runs || faults.outside_volume || faults.gap;
  if (index.cut)
    findings.warning("index-extents", at, "the extents of the index of directory {} are damaged",
                     facts.record);
  if (index.extents.empty()) return index;
  // The index of a directory is inside the image, so it has no more buffers than that.
  const u64 mapped = core::saturating_multiply(index.extents.back().end_vcn(), cluster_size);
  index.buffer_count = std::min({mapped, image.size(), allocation->size}) / index.buffer_size;
  if (index.buffer_count > most_buffers) {
    findings.warning("index-limit", at,
                     "directory {} claims {} index buffers; with those of other directories they "
                     "are more than the image has room for, and only {} are read",
                     facts.record, index.buffer_count, most_buffers);
    index.buffer_count = most_buffers;
    index.cut = true;
  }
  if (index.buffer_count > 0)
    index.used = read_bitmap(image, mft, facts, (index.buffer_count + 7) / 8, findings);
  return index;
}

DirectoryBuffer read_directory_buffer(std::span<std::byte> bytes, u64 offset, u8 vcn_shift,
                                      u64 number, u64 directory, core::Findings& findings) {
  const auto fixup = apply_fixups(bytes);
  const auto buffer = read_index_buffer(bytes, offset);
  if (!buffer) {
    findings.warning("index-buffer", offset, "directory {}: {}", directory, buffer.error());
    return {.node = std::nullopt, .may_repeat = true};
  }
  const bool torn = fixup.torn || fixup.incomplete;
  if (torn)
    findings.warning("index-torn", offset,
                     "a buffer of the index of directory {} was only partly written", directory);
  if (buffer->node.misallocated)
    findings.warning("index-buffer", offset, "a buffer of the index of directory {} {}", directory,
                     misallocated);
  const bool misplaced = buffer->vcn != number << vcn_shift;
  if (misplaced)
    findings.warning("index-vcn", offset, "the buffer {} of directory {} says it is at VCN {}",
                     number, directory, buffer->vcn);
  return {.node = buffer->node, .torn = torn, .may_repeat = misplaced};
}

}  // namespace coldtrace::ntfs
