#include "coldtrace/ntfs/locate/row_places.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/locate/place_finder.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

u64 key_of(const FileReference& file) {
  return file.record << 16U | file.sequence;
}

bool is_deleted(const PlaceOwner& owner) {
  return owner.state == State::deleted;
}

bool is_of(const PlaceOwner& owner, const PlaceOwner& file, const RowStream& stream) {
  return owner.file == file.file && owner.type == stream.type && owner.stream == stream.name;
}

StreamPart part_of(const RowStream& stream, u64 position) {
  if (!stream.size && !stream.compressed) return StreamPart::unknown;
  const u64 size = stream.size.value_or(0);
  return part_at(stream.compressed, size, stream.valid.value_or(size), position);
}

// A record whose row is known was readable, and has two bytes of each 512 elsewhere.
bool is_fixup(const RecordPlace& record) {
  return record.at % fixup_stride >= fixup_stride - 2;
}

PlaceOwner owner_of(const PlaceOwner& file, const RowStream& stream) {
  auto owner = file;
  owner.type = stream.type;
  owner.stream = stream.name;
  owner.size = stream.size;
  return owner;
}

}  // namespace

RowPlaces::RowPlaces(const ClusterMap& map, u32 record_size, std::span<const Extent> mft,
                     std::span<const u64> offsets)
    : map_{map}, places_(offsets.size()), clusters_(offsets.size()), claims_(offsets.size()) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    places_[i].offset = offsets[i];
    places_[i].cluster = clusters_[i] = (offsets[i] - map_.volume_offset) / map_.cluster_size;
  }
  if (record_size == 0) return;
  for (const auto& extent : mft) {
    if (!extent.lcn || !map_.contains(*extent.lcn, extent.clusters)) continue;
    const u64 start = static_cast<u64>(*extent.lcn);
    auto at =
        static_cast<std::size_t>(std::ranges::lower_bound(clusters_, start) - clusters_.begin());
    for (; at < places_.size() && clusters_[at] - start < extent.clusters; ++at) {
      auto& place = places_[at];
      if (place.record) continue;
      const u64 position = core::saturating_add(
          core::saturating_multiply(core::saturating_add(extent.vcn, place.cluster - start),
                                    map_.cluster_size),
          (place.offset - map_.volume_offset) % map_.cluster_size);
      place.record = RecordPlace{.record = position / record_size,
                                 .at = static_cast<u32>(position % record_size),
                                 .part = RecordPart::unknown,
                                 .owner = std::nullopt};
      in_mft_.push_back(at);
    }
  }
  std::ranges::sort(in_mft_, {}, [&](std::size_t at) { return places_[at].record->record; });
}

void RowPlaces::add(const PlaceOwner& file, std::span<const RowStream> streams) {
  const auto record_of = [&](std::size_t at) { return places_[at].record->record; };
  for (auto own = std::ranges::lower_bound(in_mft_, file.file.record, {}, record_of);
       own != in_mft_.end() && record_of(*own) == file.file.record; ++own) {
    auto& record = *places_[*own].record;
    if (is_fixup(record)) record.part = RecordPart::fixup;
    if (!record.owner) record.owner = file;
  }
  for (const auto& stream : streams)
    if (stream.resident_offset) add_resident(file, stream);
  if (files_.contains(key_of(file.file))) return;
  bool any = false;
  for (const auto& stream : streams)
    if (!stream.resident_offset) any |= add_stream(file, stream);
  if (any) files_.insert(key_of(file.file));
}

void RowPlaces::add_resident(const PlaceOwner& file, const RowStream& stream) {
  const u64 start = *stream.resident_offset;
  const u64 size = stream.size.value_or(0);
  for (auto place = std::ranges::lower_bound(places_, start, {}, &Place::offset);
       place != places_.end() && place->offset - start < size; ++place) {
    if (!place->record || place->record->part == RecordPart::value) continue;
    if (is_fixup(*place->record)) {
      place->record->part = RecordPart::fixup;
      if (!place->record->owner) place->record->owner = file;
      continue;
    }
    place->record->part = RecordPart::value;
    place->record->owner = owner_of(file, stream);
    place->record->owner->part = StreamPart::content;
    place->record->owner->position = place->offset - start;
  }
}

bool RowPlaces::add_stream(const PlaceOwner& file, const RowStream& stream) {
  bool any = false;
  for (const auto& extent : stream.extents) {
    if (!extent.lcn || !map_.contains(*extent.lcn, extent.clusters)) continue;
    const u64 start = static_cast<u64>(*extent.lcn);
    auto at =
        static_cast<std::size_t>(std::ranges::lower_bound(clusters_, start) - clusters_.begin());
    for (; at < places_.size() && clusters_[at] - start < extent.clusters; ++at) {
      any = true;
      auto& place = places_[at];
      if (claims_[at] == most_claims) {
        place.more_owners = true;
        continue;
      }
      ++claims_[at];
      if (!place.owners.empty() && is_of(place.owners.back(), file, stream)) continue;
      const u64 position = core::saturating_add(
          core::saturating_multiply(core::saturating_add(extent.vcn, place.cluster - start),
                                    map_.cluster_size),
          (place.offset - map_.volume_offset) % map_.cluster_size);
      auto owner = owner_of(file, stream);
      owner.part = part_of(stream, position);
      if (owner.part != StreamPart::compressed) owner.position = position;
      add_owner(place, std::move(owner));
    }
  }
  return any;
}

// Those in use come before the others, however many there are.
void RowPlaces::add_owner(Place& place, PlaceOwner owner) {
  if (place.owners.size() < most_place_owners) {
    place.owners.push_back(std::move(owner));
    return;
  }
  place.more_owners = true;
  const auto deleted = std::ranges::find_if(place.owners, is_deleted);
  if (!is_deleted(owner) && deleted != place.owners.end()) *deleted = std::move(owner);
}

std::vector<Place> RowPlaces::take() {
  for (auto& place : places_) {
    std::ranges::stable_sort(place.owners, [](const PlaceOwner& a, const PlaceOwner& b) {
      const bool first = is_deleted(a);
      const bool second = is_deleted(b);
      return std::tie(first, a.file.record) < std::tie(second, b.file.record);
    });
    place.holds = holds_of(place);
  }
  return std::move(places_);
}

}  // namespace coldtrace::ntfs
