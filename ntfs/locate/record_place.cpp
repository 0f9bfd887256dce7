#include "ntfs/locate/record_place.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"

namespace coldtrace::ntfs {
namespace {

// What the last attribute that starts before `at` says of it.
RecordPart part_of_attribute(core::ByteView record, const FileRecordHeader& header, u32 at,
                             std::optional<Attribute>& around) {
  AttributeReader in{record, header.first_attribute, header.used_size, 0};
  while (const auto attribute = in.next()) {
    if (attribute->offset > at) break;
    around = attribute;
  }
  const auto stored =
      around ? core::Fields<8>::at(record, around->offset) : std::optional<core::Fields<8>>{};
  if (!stored || at - around->offset >= stored->get<u32, 4>()) {
    around.reset();
    return in.damage() ? RecordPart::damaged : RecordPart::unused;
  }
  const bool in_value = around->resident && at >= around->value_offset &&
                        at - around->value_offset < around->value.size();
  return in_value ? RecordPart::value : RecordPart::attribute;
}

}  // namespace

RecordPlaces::RecordPlaces(const Volume& volume, const RecordTable& records, PlaceOwners& owners)
    : volume_{volume}, records_{records}, owners_{owners} {
  for (const auto& extent : volume.mft().extents())
    if (extent.lcn && volume.mft().clusters().contains(*extent.lcn, extent.clusters))
      pieces_.push_back({static_cast<u64>(*extent.lcn),
                         static_cast<u64>(*extent.lcn) + extent.clusters, extent.vcn});
  std::ranges::stable_sort(pieces_, {}, &Piece::start);
}

std::optional<RecordPlace> RecordPlaces::find(u64 cluster, u64 byte_of_cluster,
                                              core::Findings& findings) {
  const auto& mft = volume_.mft();
  const auto after = std::ranges::upper_bound(pieces_, cluster, {}, &Piece::start);
  if (after == pieces_.begin() || cluster >= std::prev(after)->end) return std::nullopt;
  const auto& piece = *std::prev(after);
  const u64 position = core::saturating_add(
      core::saturating_multiply(core::saturating_add(piece.vcn, cluster - piece.start),
                                mft.clusters().cluster_size),
      byte_of_cluster);
  RecordPlace place{.record = position / mft.record_size(),
                    .at = static_cast<u32>(position % mft.record_size())};
  if (place.record >= mft.record_count()) return std::nullopt;
  look_inside(place, findings);
  return place;
}

void RecordPlaces::look_inside(RecordPlace& place, core::Findings& findings) {
  const auto& mft = volume_.mft();
  place.part = RecordPart::damaged;
  bytes_.resize(mft.record_size());
  if (const auto read = mft.read_raw(volume_.image(), place.record, bytes_); !read) {
    findings.warning("record-unreadable", mft.offset_of(place.record), "record {}: {}",
                     place.record, read.error());
    return;
  }
  if (is_unused_record(bytes_)) {
    place.part = RecordPart::never_used;
    return;
  }
  apply_fixups(bytes_);
  const auto header = read_file_record_header(bytes_, 0);
  if (!header) return;
  std::optional<Attribute> around;
  if (place.at % fixup_stride >= fixup_stride - 2) {
    place.part = RecordPart::fixup;
  } else if (place.at >= header->used_size) {
    place.part = RecordPart::unused;
  } else if (place.at < header->first_attribute) {
    place.part = RecordPart::header;
  } else {
    place.part = part_of_attribute(bytes_, *header, place.at, around);
  }
  if (!records_.has(place.record)) return;
  records_.assemble(owners_.file_of(place.record), facts_);
  if (was_never_used(facts_)) {
    place.part = RecordPart::never_used;
    return;
  }
  auto& owner = place.owner.emplace(owners_.describe(facts_));
  if (!around) return;
  owner.type = around->type;
  owner.stream = to_exact(to_stored_text(around->name));
  owner.size = around->resident ? std::optional<u64>{around->value.size()} : std::nullopt;
  if (place.part != RecordPart::value) return;
  owner.part = StreamPart::content;
  owner.position = place.at - around->value_offset;
}

}  // namespace coldtrace::ntfs
