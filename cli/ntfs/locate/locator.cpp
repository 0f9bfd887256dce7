#include "cli/ntfs/locate/locator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/core/checked.hpp"

namespace coldtrace::cli {

Locator::Locator(const LocatedDisk& disk, std::vector<LocatedVolume> volumes, bool first)
    : disk_{disk}, volumes_{std::move(volumes)}, first_{first} {
  for (const auto& volume : volumes_) areas_.push_back(volume.area);
}

std::string_view Locator::name_of_area(ntfs::DiskArea::Kind kind) const {
  using Kind = ntfs::DiskArea::Kind;
  switch (kind) {
    case Kind::clusters:
    case Kind::outside_volume:
      return "outside_volume";
    case Kind::other_partition:
      return "other_partition";
    case Kind::unpartitioned:
      return disk_.of_snapshot ? "not_in_snapshot" : "unpartitioned";
    case Kind::outside_image:
      return "outside_image";
  }
  return "outside_image";
}

Locator::Aim Locator::aim_at_cluster(const AskedPlace& asked) {
  const auto& map = areas_.front().clusters;
  if (const auto offset = map.offset_of(ntfs::Lcn{asked.number}))
    return {offset, {ntfs::DiskArea::Kind::clusters, 0}};
  unmatched_.add_sentence(fmt::format("{}: the volume has {}", asked.text,
                                      counted(map.clusters, "cluster", "clusters")));
  return {std::nullopt, {ntfs::DiskArea::Kind::outside_volume, 0}};
}

Locator::Aim Locator::aim(const AskedPlace& asked) {
  if (asked.unit == PlaceUnit::cluster) return aim_at_cluster(asked);
  auto offset = std::optional{asked.number};
  if (asked.unit == PlaceUnit::sector)
    offset = core::checked_multiply(asked.number, disk_.sector_size);
  const auto area = offset ? find_area(*offset, disk_.size, areas_, disk_.partitions)
                           : ntfs::DiskArea{ntfs::DiskArea::Kind::outside_image};
  if (area.kind == ntfs::DiskArea::Kind::outside_image)
    unmatched_.add_sentence(
        fmt::format("{} is beyond the end of the image, at {:#x}", asked.text, disk_.size));
  return {offset, area};
}

void Locator::locate(const std::vector<AskedPlace>& asked,
                     const std::function<void(const LocatedPlace&)>& write) {
  using Kind = ntfs::DiskArea::Kind;
  std::vector<Aim> aims;
  std::vector<std::vector<u64>> offsets(volumes_.size());
  for (const auto& place : asked) {
    aims.push_back(aim(place));
    if (aims.back().area.kind == Kind::clusters)
      offsets[aims.back().area.index].push_back(*aims.back().offset);
  }
  std::vector<std::vector<ntfs::Place>> places(volumes_.size());
  for (std::size_t i = 0; i < volumes_.size(); ++i) {
    std::ranges::sort(offsets[i]);
    offsets[i].erase(std::unique(offsets[i].begin(), offsets[i].end()), offsets[i].end());
    if (!offsets[i].empty()) places[i] = volumes_[i].find(offsets[i]);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& [offset, area] = aims[i];
    LocatedPlace located{.asked = asked[i], .offset = offset, .sector_size = disk_.sector_size};
    if (area.kind == Kind::clusters || area.kind == Kind::outside_volume)
      located.volume = &volumes_[area.index].name;
    if (area.kind == Kind::clusters)
      located.place =
          &*std::ranges::lower_bound(places[area.index], *offset, {}, &ntfs::Place::offset);
    else
      located.area = name_of_area(area.kind);
    if (!first_ && located.volume == nullptr) continue;
    if (area.kind == Kind::other_partition)
      located.partition_kind = name_of(disk_.partitions[area.index].kind);
    ++counts_[std::string{holds(located)}];
    write(located);
  }
}

}  // namespace coldtrace::cli
