#include "coldtrace/ntfs/volume_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 sector_size = 512;
constexpr u64 read_size = 1 << 20;
constexpr u32 magic_file = 0x454c4946;  // "FILE"
constexpr u64 mirror_record = static_cast<u64>(SystemRecord::mft_mirror);
constexpr u64 boot_record = 7;
constexpr u64 bad_clusters_record = 8;
constexpr u64 first_without_copy = 4;  // $MFTMirr has the records before
constexpr u64 last_system_record = 11;

// Records that lie one behind the other, from record 0 on.
class Records {
 public:
  Records(const core::ImageSource& image, u64 offset) : image_{image}, offset_{offset} {
    std::array<std::byte, sector_size> head{};
    if (!image.read_at(offset, head)) return;
    const auto header = read_file_record_header(head, offset);
    if (!header || header->bad) return;
    const u32 size = header->allocated_size;
    if (std::has_single_bit(size) && size >= 512 && size <= 65536) record_size_ = size;
  }

  u64 offset() const { return offset_; }
  u32 record_size() const { return record_size_; }

  // The record when it is there whole, in use and of this number. Valid until the next call.
  const RecordFacts* read(u64 number) {
    if (record_size_ == 0) return nullptr;
    const u64 at = core::saturating_add(offset_, number * record_size_);
    bytes_.resize(record_size_);
    if (!image_.read_at(at, bytes_)) return nullptr;
    const auto damage = read_fixed_record(bytes_, number, at, facts_);
    if (!damage || *damage) return nullptr;
    const bool sound = facts_.in_use && !facts_.bad && !facts_.torn && !facts_.misplaced;
    return sound && !facts_.is_extension() ? &facts_ : nullptr;
  }

 private:
  const core::ImageSource& image_;
  u64 offset_;
  u32 record_size_ = 0;
  std::vector<std::byte> bytes_;
  RecordFacts facts_;
};

const AttributeFacts* find_content(const RecordFacts* facts, std::string_view name = {}) {
  const auto* data = facts ? facts->find(AttributeType::data, name) : nullptr;
  return data && !data->resident && data->lowest_vcn == 0 ? data : nullptr;
}

std::optional<Lcn> find_first_cluster(const AttributeFacts* data) {
  if (!data) return std::nullopt;
  const auto run = DataRunReader{data->runs, 0}.next();
  return run ? run->start : std::nullopt;
}

// Bytes in a cluster: what is allocated, by the clusters of the run list.
std::optional<u32> find_cluster_size(const AttributeFacts* data) {
  if (!data || data->cluster_count == 0 || data->allocated_size % data->cluster_count != 0)
    return std::nullopt;
  const u64 size = data->allocated_size / data->cluster_count;
  if (!std::has_single_bit(size) || size < 512 || size > largest_cluster) return std::nullopt;
  return static_cast<u32>(size);
}

bool is_mft(const RecordFacts& facts) {
  return !facts.directory && std::ranges::any_of(facts.names, [](const FileName& name) {
    return name.parent.record == root_record && to_utf8(name.name) == "$MFT";
  });
}

// What record 0 and its neighbours at one place say.
struct Candidate {
  u64 offset;
  u32 record_size;
  u32 cluster_size;
  Lcn mft;
  std::optional<Lcn> mirror;
};

std::optional<Candidate> read_candidate(const core::ImageSource& image, u64 offset,
                                        std::optional<u32> known_cluster_size) {
  Records records{image, offset};
  const auto* mft = records.read(0);
  if (!mft || !is_mft(*mft)) return std::nullopt;
  const auto first = find_first_cluster(find_content(mft));
  if (!first) return std::nullopt;
  // The sizes in record 0 are those of all its extents, of which others may be in other records.
  std::optional<u32> cluster_size = known_cluster_size;
  if (!cluster_size && !mft->has_list) cluster_size = find_cluster_size(find_content(mft));
  Candidate candidate{offset, records.record_size(), 0, *first, std::nullopt};
  for (const u64 number : {mirror_record, boot_record}) {
    const auto* data = find_content(records.read(number));
    if (number == mirror_record) candidate.mirror = find_first_cluster(data);
    if (!cluster_size) cluster_size = find_cluster_size(data);
  }
  if (!cluster_size) return std::nullopt;
  candidate.cluster_size = *cluster_size;
  return candidate;
}

// True when records of $MFT that its copy lacks are behind a record 0 at this place.
bool has_records(const core::ImageSource& image, u64 offset, u32 record_size) {
  std::vector<std::byte> bytes(record_size);
  RecordFacts facts;
  for (u64 number = first_without_copy; number <= last_system_record; ++number) {
    const u64 at = core::saturating_add(offset, number * record_size);
    // Of a record that is not in use the number is not looked at.
    if (image.read_at(at, bytes) && read_fixed_record(bytes, number, at, facts) && facts.in_use &&
        !facts.misplaced)
      return true;
  }
  return false;
}

// The clusters of the volume: $BadClus has a hole over all of them, $Bitmap a bit for each.
u64 count_clusters(const core::ImageSource& image, u64 mft_offset, u64 volume_offset,
                   u32 cluster_size) {
  Records records{image, mft_offset};
  if (const auto* bad = find_content(records.read(bad_clusters_record), "$Bad");
      bad && bad->size >= cluster_size)
    return bad->size / cluster_size;
  const auto* bitmap = find_content(records.read(static_cast<u64>(SystemRecord::bitmap)));
  const u64 in_image = (image.size() - volume_offset) / cluster_size;
  if (bitmap && bitmap->size > 0 && bitmap->size <= ~u64{0} / 8 / cluster_size)
    return bitmap->size * 8;
  return in_image;
}

class Search {
 public:
  Search(const core::ImageSource& image, const VolumeSearch& search)
      : image_{image}, search_{search} {}

  std::optional<FoundVolume> run() {
    if (search_.mft_offset) {
      accept(*search_.mft_offset, true);
    } else {
      for (const u64 place : usual_places())
        if (accept(place, false)) return first_;
      if (search_.scans) scan();
    }
    return first_ ? first_ : elsewhere_;
  }

 private:
  // Windows puts $MFT at cluster 786432 and its copy at 2, or $MFT at a third of a small volume;
  // mkntfs puts $MFT at cluster 4. The copy is in the middle where it is not at 2.
  std::vector<u64> usual_places() const {
    std::vector<u64> places;
    const u64 end = core::saturating_add(search_.offset, search_.size);
    for (u64 cluster_size = 512; cluster_size <= largest_cluster; cluster_size *= 2)
      for (const u64 cluster : {u64{786432}, u64{4}, u64{2}})
        places.push_back(core::saturating_add(search_.offset, cluster * cluster_size));
    for (const u64 part : {u64{2}, u64{3}})
      for (const u64 unit : {u64{4096}, sector_size})
        places.push_back(search_.offset + search_.size / part / unit * unit);
    std::erase_if(places, [&](u64 place) { return place >= end; });
    return places;
  }

  // True when the volume was found where it was thought to start.
  bool accept(u64 offset, bool told) {
    const auto candidate = read_candidate(image_, offset, search_.cluster_size);
    if (!candidate) return false;
    const auto place = [&](std::optional<Lcn> lcn, bool is_copy) {
      if (!lcn) return false;
      const auto distance = core::checked_multiply(static_cast<u64>(*lcn), candidate->cluster_size);
      if (!distance || *distance > offset) return false;
      const u64 start = offset - *distance;
      const u64 mft = core::saturating_add(
          start,
          core::saturating_multiply(static_cast<u64>(candidate->mft), candidate->cluster_size));
      if (start % sector_size != 0 || start < search_.offset || mft >= image_.size()) return false;
      if (start != search_.offset && !search_.anywhere && !told) return false;
      const bool here = !is_copy && told;
      if (!here && !has_records(image_, mft, candidate->record_size)) return false;
      auto& found = start == search_.offset ? first_ : elsewhere_;
      if (!found) found = to_volume(*candidate, start, mft);
      return start == search_.offset || told;
    };
    return place(candidate->mft, false) || place(candidate->mirror, true);
  }

  FoundVolume to_volume(const Candidate& candidate, u64 start, u64 mft) const {
    const u32 cluster_size = candidate.cluster_size;
    const u64 clusters = count_clusters(image_, mft, start, cluster_size);
    return {start,
            {.bytes_per_sector = sector_size,
             .cluster_size = cluster_size,
             .total_sectors = clusters * (cluster_size / sector_size),
             .clusters = clusters,
             .mft = candidate.mft,
             .mft_mirror = candidate.mirror.value_or(candidate.mft),
             .record_size = candidate.record_size,
             .index_size = 4096,
             .serial_number = 0,
             .end_marker = true,
             .inferred = true},
            candidate.offset};
  }

  void scan() {
    const u64 length = std::min({search_.size, longest_volume_search,
                                 image_.size() - std::min(search_.offset, image_.size())});
    std::vector<std::byte> buffer(read_size);
    for (u64 at = 0; at < length && !first_; at += read_size) {
      // Steps stay where they are: records lie across none of them.
      const u64 data = image_.next_data(search_.offset + at) - search_.offset;
      at = std::max(at, data / read_size * read_size);
      if (at >= length) break;
      const auto bytes = std::span{buffer}.first(std::min(read_size, length - at));
      if (image_.read_at(search_.offset + at, bytes))
        scan_bytes(bytes, search_.offset + at);
      else
        scan_sectors(bytes, search_.offset + at);
    }
  }

  // Where a range cannot be read as a whole, parts of it may.
  void scan_sectors(std::span<std::byte> bytes, u64 offset) {
    constexpr u64 part_size = u64{64} * 1024;
    for (u64 at = 0; at < bytes.size() && !first_; at += part_size) {
      const auto part = bytes.subspan(at, std::min<u64>(part_size, bytes.size() - at));
      if (image_.read_at(offset + at, part)) scan_bytes(part, offset + at);
    }
  }

  void scan_bytes(core::ByteView bytes, u64 offset) {
    for (u64 at = 0; at + sector_size <= bytes.size() && !first_; at += sector_size) {
      const auto head = *core::Fields<FileRecordHeader::size_on_disk>::at(bytes, at);
      if (head.get<u32, 0>() != magic_file) continue;
      // Only NTFS before 3.1 has records without their number.
      const bool numbered = head.get<u16, 4>() >= FileRecordHeader::size_on_disk;
      if (!numbered || head.get<u32, 0x2c>() == 0) accept(offset + at, false);
    }
  }

  const core::ImageSource& image_;
  const VolumeSearch& search_;
  std::optional<FoundVolume> first_;
  std::optional<FoundVolume> elsewhere_;
};

}  // namespace

std::optional<FoundVolume> search_volume(const core::ImageSource& image,
                                         const VolumeSearch& search) {
  return Search{image, search}.run();
}

}  // namespace coldtrace::ntfs
