#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"
#include "coldtrace/ntfs/volume_search.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 sector_size = BootSector::size_on_disk;
// Where partitions start and end: at MiB since Windows Vista, before it at cylinders of the
// geometry that BIOSes give (255 heads of 63 sectors), a track behind the first one's. At 64 KiB
// where they were made for stripes or for flash (diskpart's "align=64"): these are many, and looked
// at near the start and behind a volume alone.
constexpr u64 mebibyte = u64{1} << 20;
constexpr u64 stripe = u64{1} << 16;
constexpr u64 longest_stripe_search = u64{1} << 30;
constexpr u64 track = 63 * sector_size;
constexpr u64 cylinder = 255 * track;

struct Found {
  u64 start;
  u64 size;
};

// The volume whose first or last sector a boot sector at `at` is: its $MFT is where it says.
std::optional<Found> read_volume(const core::ImageSource& image, core::ByteView sector, u64 at) {
  const auto boot = read_boot_sector(sector, at);
  if (!boot) return std::nullopt;
  const auto mft = core::checked_multiply(static_cast<u64>(boot->mft), u64{boot->cluster_size});
  const auto size = core::checked_multiply(core::saturating_add(boot->total_sectors, 1),
                                           u64{boot->bytes_per_sector});
  if (!mft || !size) return std::nullopt;
  const auto has_mft = [&](u64 start) {
    std::array<std::byte, 4> magic{};
    const auto place = core::checked_add(start, *mft);
    return place && image.read_at(*place, magic) && core::to_chars(magic) == "FILE";
  };
  if (has_mft(at)) return Found{at, *size};
  const auto start = boot->start_before(at);
  return start && has_mft(*start) ? std::optional{Found{*start, *size}} : std::nullopt;
}

// The next place from `at` on where a partition of most disks may start or have ended.
u64 next_usual_place(u64 at) {
  const auto up = [&](u64 unit, u64 first) {
    return at <= first ? first : (at - first + unit - 1) / unit * unit + first;
  };
  return std::min({up(mebibyte, mebibyte), up(cylinder, track), up(cylinder, cylinder)});
}

// Or of any; the last volume ends at `end`.
u64 next_place(u64 at, u64 end) {
  const u64 stripes = core::saturating_add(at, stripe - 1) / stripe * stripe;
  const bool near = stripes <= core::saturating_add(end, longest_stripe_search);
  return near ? std::min(next_usual_place(at), std::max(stripes, stripe)) : next_usual_place(at);
}

// Both sides of a place: what starts there, and what ended there.
std::optional<Found> find_at(const core::ImageSource& image, u64 place) {
  std::array<std::byte, sector_sizes.back() + sector_size> bytes{};
  const u64 before = std::min(place, sector_sizes.back());
  const auto both = std::span{bytes}.first(before + sector_size);
  const bool read = image.read_at(place - before, both).has_value();
  const auto find = [&](u64 back) -> std::optional<Found> {
    if (back > before) return std::nullopt;
    const auto sector = both.subspan(before - back, sector_size);
    if (!read && !image.read_at(place - back, sector)) return std::nullopt;
    return read_volume(image, sector, place - back);
  };
  auto found = find(0);
  for (const u64 back : sector_sizes)
    if (!found) found = find(back);
  return found;
}

// The first places of a stretch where a partition may start, and the last where one may have ended.
std::vector<u64> places_of(u64 start, u64 end) {
  constexpr u64 searched = u64{16} << 20;
  std::vector<u64> places;
  if (start >= sector_size) places.push_back(start);
  const u64 last = core::saturating_add(start, searched);
  for (u64 at = next_usual_place(start + 1); at < end && at <= last; at = next_usual_place(at + 1))
    places.push_back(at);
  places.push_back(end);
  return places;
}

// Adds the volumes that begin there and end before `limit`.
void find_volumes_between(const core::ImageSource& image, u64 start, u64 end, u64 limit,
                          std::vector<Found>& volumes) {
  u64 known = start;  // up to here
  for (const u64 place : places_of(start, end)) {
    const auto found = find_at(image, place);
    if (!found || found->start < known || core::saturating_add(found->start, found->size) > limit)
      continue;
    known = core::saturating_add(found->start, found->size);
    volumes.push_back(*found);
  }
}

// Where the volumes start whose boot sectors have their copies at the ends of damaged partitions,
// sorted. They are read by those.
std::vector<u64> starts_by_copies(const core::ImageSource& image,
                                  std::span<const Partition> partitions) {
  std::vector<u64> starts;
  std::array<std::byte, sector_size> sector{};
  for (const auto& partition : partitions) {
    if (!may_be_damaged(partition.kind)) continue;
    const u64 end = core::saturating_add(partition.offset, partition.size);
    for (const u64 back : sector_sizes) {
      if (back > end || !image.read_at(end - back, sector)) continue;
      const auto boot = read_boot_sector(sector, end - back);
      if (!boot) continue;
      if (const auto start = boot->start_before(end - back)) starts.push_back(*start);
    }
  }
  std::ranges::sort(starts);
  return starts;
}

// Of findings of one code the first sentence stands for all: it has all places.
void tell_unlisted(std::span<const Found> volumes, core::Findings& findings) {
  if (volumes.empty()) return;
  constexpr std::size_t most = 8;
  const auto behind = volumes.subspan(1);
  std::string others;
  for (const auto& volume : behind.first(std::min(behind.size(), most)))
    others += fmt::format("{}{} ({} bytes)", others.empty() ? "; others start at " : ", ",
                          volume.start, volume.size);
  if (behind.size() > most)
    others +=
        fmt::format(" and {}", core::counted(behind.size() - most, "more place", "more places"));
  for (const auto& volume : volumes)
    findings.warning("partition-unlisted", volume.start,
                     "an NTFS volume of {} bytes starts here, but the partition table has no "
                     "partition here: --offset {} reads it{}",
                     volume.size, volume.start, others);
}

}  // namespace

void tell_unlisted_volumes(const core::ImageSource& image, const Disk& disk,
                           std::optional<u64> asked, core::Findings& findings) {
  std::vector<Partition> listed = disk.partitions;
  listed.push_back({.number = 0, .offset = image.size(), .size = 0, .kind = {}});
  std::ranges::stable_sort(listed, {}, &Partition::offset);
  std::vector<Found> volumes;
  u64 end = 0;
  for (const auto& partition : listed) {
    const u64 next = std::min(partition.offset, image.size());
    const u64 next_end = core::saturating_add(partition.offset, partition.size);
    // An image may be cut off, and the last volume with it. A partition in which nothing is known
    // may belong to a volume that starts before it.
    const u64 limit = next == image.size()             ? ~u64{0}
                      : may_be_damaged(partition.kind) ? next_end
                                                       : next;
    if (next > end) find_volumes_between(image, end, next, limit, volumes);
    end = std::max(end, next_end);
  }
  if (volumes.empty()) return;
  const auto read = starts_by_copies(image, find_ntfs_partitions(disk));
  std::erase_if(volumes, [&](const Found& volume) {
    return volume.start == asked || std::ranges::binary_search(read, volume.start);
  });
  tell_unlisted(volumes, findings);
}

bool find_lost_volumes(const core::ImageSource& image, Disk& disk, core::Findings& findings) {
  u64 end = 0;  // of the last volume
  u64 place = next_place(0, end);
  for (; place <= image.size() && place - end <= longest_volume_search;
       place = next_place(place + 1, end)) {
    const u64 data = image.next_data(place - std::min(place, sector_sizes.back()));
    if (data >= place + sector_size) {
      place = data - 1;  // the hole's last byte
      continue;
    }
    const auto found = find_at(image, place);
    if (!found || found->start < end) continue;
    // Before the first volume that is known, a file of another one may hold it.
    if (end == 0 && found->start > mebibyte && next_usual_place(place) != place) continue;
    disk.partitions.push_back({.number = static_cast<u32>(disk.partitions.size() + 1),
                               .offset = found->start,
                               .size = found->size,
                               .kind = core::FileKind::ntfs_volume});
    end = core::saturating_add(found->start, found->size);
    place = std::max(place, end - 1);
  }
  // That of a volume alone, whose first sector is lost.
  if (disk.partitions.size() == 1 && disk.partitions.front().offset == 0) disk.partitions.clear();
  if (disk.partitions.empty()) return false;
  disk.kind = DiskKind::lost;
  findings.warning("partition-lost", 0,
                   "no partition table is usable; NTFS volumes were searched for by their boot "
                   "sectors at MiB and cylinder boundaries, and at every 64 KiB of the first MiB "
                   "and of the GiB after a volume, up to byte {:#x}: {}",
                   std::min(place, image.size()), disk.partitions.size());
  return true;
}

}  // namespace coldtrace::ntfs
