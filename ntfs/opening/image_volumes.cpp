#include "coldtrace/ntfs/opening/image_volumes.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/containers/image_kinds.hpp"

namespace coldtrace::ntfs {
namespace {

using core::FileKind;

bool is_locked(const ImageVolumes& image, const Partition& partition) {
  const auto found = image.bitlocker.find(partition.offset);
  return found != image.bitlocker.end() && !found->second.opened;
}

// The partition that starts at an offset of the image, or what is there, up to where a partition
// begins or ends. A BitLocker volume is opened, as partitions are already.
Partition read_at_offset(ImageVolumes& image, u64 offset, std::span<const BitLockerKey> keys,
                         core::Findings& findings) {
  const auto& partitions = image.disk.partitions;
  const auto listed = std::ranges::find(partitions, offset, &Partition::offset);
  if (listed != partitions.end()) return *listed;
  auto& source = image.file.source;
  u64 end = source->size();
  for (const auto& one : partitions)
    for (const u64 border : {one.offset, core::saturating_add(one.offset, one.size)})
      if (border > offset) end = std::min(end, border);
  Partition found{
      .number = 0, .offset = offset, .size = end - offset, .kind = identify_at(*source, offset)};
  open_bitlocker_volumes(keys, source, {&found, 1}, image.bitlocker, findings);
  return found;
}

// A partition of a table may start before its volume or behind it: what lies before it is free up
// to where another one ends. What is not of a table starts where it does.
std::optional<u64> find_earliest(const Disk& disk, const Partition& partition) {
  if (partition.number == 0) return std::nullopt;
  u64 earliest = 0;
  for (const auto& one : disk.partitions) {
    const u64 end = core::saturating_add(one.offset, one.size);
    if (one.offset < partition.offset)
      earliest = std::max(earliest, std::min(end, partition.offset));
  }
  return earliest;
}

}  // namespace

ImageContent content_of(const ImageFile& file, const VolumeChoice& choice) {
  if (choice.mft_only) return ImageContent::mft;
  if (choice.locates()) return ImageContent::disk;
  if (file.kind == FileKind::ntfs_mft) return ImageContent::mft;
  return is_unopened_container(file.kind) ? ImageContent::unopened : ImageContent::disk;
}

ImageVolumes read_volumes(ImageFile file, const VolumeChoice& choice,
                          std::span<const BitLockerKey> keys, core::Findings& findings) {
  ImageVolumes image;
  image.is_mft = content_of(file, choice) == ImageContent::mft;
  image.file = std::move(file);
  image.stored = image.file.source.get();
  const u64 size = image.file.source->size();
  if (image.is_mft) {
    image.disk = {DiskKind::volume, 512, {{.size = size, .kind = FileKind::ntfs_mft}}};
    return image;
  }
  image.keys = keys.size();
  image.disk = read_disk(*image.file.source, findings, choice.offset);
  open_bitlocker_volumes(keys, image.file.source, image.disk.partitions, image.bitlocker, findings);
  if (image.file.kind == FileKind::bitlocker_volume && image.disk.kind == DiskKind::volume)
    image.file.kind = image.disk.partitions.front().kind;
  if (choice.offset && *choice.offset < size)
    image.at_offset = read_at_offset(image, *choice.offset, keys, findings);
  return image;
}

core::Expected<ChosenVolumes, NoVolume> choose_volumes(const ImageVolumes& image,
                                                       const VolumeChoice& choice) {
  ChosenVolumes chosen;
  if (image.is_mft) {
    chosen.volumes = image.disk.partitions;
    return chosen;
  }
  if (choice.mft_offset && !choice.offset && !choice.partition) {
    const auto& source = *image.file.source;
    chosen.volumes.push_back({.size = source.size(), .kind = identify_at(source, 0)});
    return chosen;
  }
  if (choice.offset) {
    if (!image.at_offset) return core::fail(NoVolume::beyond_end);
    auto& list = is_locked(image, *image.at_offset) ? chosen.locked : chosen.volumes;
    list.push_back(*image.at_offset);
    return chosen;
  }
  const auto& all = image.disk.partitions;
  const auto wanted = [&](const Partition& partition) {
    return !choice.partition || partition.number == *choice.partition;
  };
  if (choice.partition && std::ranges::none_of(all, wanted))
    return core::fail(NoVolume::no_partition);
  std::ranges::copy_if(all, std::back_inserter(chosen.locked), [&](const Partition& partition) {
    return wanted(partition) && is_locked(image, partition);
  });
  std::ranges::copy_if(choice.partition ? all : find_ntfs_partitions(image.disk),
                       std::back_inserter(chosen.volumes), [&](const Partition& partition) {
                         return wanted(partition) && !is_locked(image, partition);
                       });
  if (chosen.volumes.empty() && chosen.locked.empty()) return core::fail(NoVolume::no_ntfs);
  return chosen;
}

core::Result<Volume> open_volume(const ImageVolumes& image,
                                 core::Borrowed<core::ImageSource> source,
                                 const Partition& partition, const VolumeChoice& choice,
                                 core::Findings& findings) {
  if (image.is_mft) return Volume::open_extracted_mft(source, findings);
  return Volume::open(source,
                      {.offset = partition.offset,
                       .size = partition.size,
                       .anywhere = partition.number == 0 && !choice.offset,
                       .earliest = find_earliest(image.disk, partition),
                       .mft_offset = choice.mft_offset,
                       .cluster_size = choice.cluster_size},
                      findings);
}

ShadowPlace place_of(const Partition& partition, const Volume& volume) {
  const u64 end = core::saturating_add(partition.offset, partition.size);
  return {volume.offset(), end - std::min(end, volume.offset())};
}

ShadowPlace find_place(const ImageVolumes& image, const Partition& partition,
                       const VolumeChoice& choice) {
  core::Findings told_when_read;
  const auto volume = open_volume(image, *image.file.source, partition, choice, told_when_read);
  return volume ? place_of(partition, *volume) : ShadowPlace{partition.offset, partition.size};
}

}  // namespace coldtrace::ntfs
