#include "coldtrace/ntfs/opening/image_volumes.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "fixtures/builders/value_of.hpp"
#include "tests/ntfs/opening/disk_with_volumes.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;
using core::FileKind;

namespace {

using tests::DiskWithVolumes;

std::vector<u64> offsets_of(const std::vector<Partition>& partitions) {
  std::vector<u64> offsets;
  for (const auto& partition : partitions) offsets.push_back(partition.offset);
  return offsets;
}

std::vector<u64> chosen_offsets(const ImageVolumes& image, const VolumeChoice& choice) {
  const auto chosen = choose_volumes(image, choice);
  REQUIRE(chosen);
  CHECK(chosen->locked.empty());
  return offsets_of(chosen->volumes);
}

std::vector<u64> unlisted_volumes(const VolumeChoice& choice) {
  const DiskWithVolumes disk;
  core::Findings findings;
  const auto image = read_volumes(disk.open(), choice, {}, findings);
  std::vector<u64> told;
  for (const auto& finding : findings.all()) {
    CHECK(finding.code == "partition-unlisted");
    told.push_back(finding.first_offset.value_or(0));
  }
  return told;
}

// A volume that no key has opened.
BitLockerVolumes locked_at(u64 offset) {
  BitLockerVolumes volumes;
  volumes.emplace(offset, BitLockerVolume{});
  return volumes;
}

}  // namespace

TEST_CASE("contents decide as what an image is read, where the choice of volumes does not") {
  struct Row {
    FileKind kind;
    VolumeChoice choice;
    ImageContent content;
  };
  const VolumeChoice any, mft{.mft_only = true}, offset{.offset = 0};
  const auto row = GENERATE_COPY(values<Row>({
      {FileKind::ntfs_volume, any, ImageContent::disk},
      {FileKind::unknown, any, ImageContent::disk},
      {FileKind::pe_image, any, ImageContent::disk},
      {FileKind::ntfs_mft, any, ImageContent::mft},
      {FileKind::ntfs_mft, offset, ImageContent::disk},
      {FileKind::ntfs_mft, {.mft_offset = 0}, ImageContent::disk},
      {FileKind::ntfs_volume, mft, ImageContent::mft},
      {FileKind::aff, mft, ImageContent::mft},
      {FileKind::aff, any, ImageContent::unopened},
      {FileKind::empty, any, ImageContent::unopened},
      {FileKind::gzip, any, ImageContent::unopened},
      {FileKind::gzip, {.partition = 1}, ImageContent::disk},
  }));
  ImageFile file;
  file.kind = row.kind;
  CAPTURE(name_of(row.kind));
  CHECK(content_of(file, row.choice) == row.content);
}

TEST_CASE("with nothing said the NTFS volumes of a disk are read, or the one that is named") {
  const DiskWithVolumes disk;
  core::Findings findings;
  const auto image = read_volumes(disk.open(), {}, {}, findings);
  REQUIRE(image.disk.kind == DiskKind::mbr);
  CHECK(image.stored == image.file.source.get());
  CHECK_FALSE(image.is_mft);
  CHECK(chosen_offsets(image, {}) == std::vector{disk.first, disk.second});
  CHECK(chosen_offsets(image, {.partition = 2}) == std::vector{disk.second});
  // One that is named is read whatever it begins with.
  CHECK(chosen_offsets(image, {.partition = 3}) == std::vector{disk.other});
  CHECK(fixtures::error_of(choose_volumes(image, {.partition = 4})) == NoVolume::no_partition);
}

TEST_CASE("an offset names a partition of the table, or what lies up to the next one") {
  const DiskWithVolumes disk;
  struct Row {
    u64 offset;
    u32 number;
    u64 end;
    FileKind kind;
  };
  const u64 size = disk.volume_size();
  const auto row = GENERATE_COPY(
      values<Row>({{disk.first, 1, disk.first + size, FileKind::ntfs_volume},
                   {disk.unlisted, 0, disk.second, FileKind::ntfs_volume},
                   {disk.other, 3, disk.other + DiskWithVolumes::mebibyte, FileKind::zeros},
                   {disk.second + 512, 0, disk.second + size, FileKind::zeros},
                   {disk.second + size, 0, disk.other, FileKind::zeros},
                   {0, 0, disk.first, FileKind::unknown}}));
  const VolumeChoice choice{.offset = row.offset};
  core::Findings findings;
  const auto image = read_volumes(disk.open(), choice, {}, findings);
  const auto chosen = choose_volumes(image, choice);
  REQUIRE(chosen);
  REQUIRE(chosen->volumes.size() == 1);
  const auto& volume = chosen->volumes.front();
  CAPTURE(row.offset);
  CHECK(volume.number == row.number);
  CHECK(volume.offset == row.offset);
  CHECK(volume.offset + volume.size == row.end);
  CHECK(volume.kind == row.kind);
}

TEST_CASE("an offset behind the last byte names no volume") {
  const DiskWithVolumes disk;
  for (const u64 offset : {u64{disk.bytes.size()}, ~u64{0}}) {
    const VolumeChoice choice{.offset = offset};
    core::Findings findings;
    const auto image = read_volumes(disk.open(), choice, {}, findings);
    CHECK(fixtures::error_of(choose_volumes(image, choice)) == NoVolume::beyond_end);
  }
}

TEST_CASE("a volume that no table lists is told, but where it is the one that is read") {
  const DiskWithVolumes disk;
  CHECK(unlisted_volumes({}) == std::vector{disk.unlisted});
  CHECK(unlisted_volumes({.partition = 1}) == std::vector{disk.unlisted});
  CHECK(unlisted_volumes({.offset = disk.first}) == std::vector{disk.unlisted});
  CHECK(unlisted_volumes({.offset = disk.unlisted}).empty());
}

TEST_CASE("a $MFT alone, and a volume known by its record 0, are the image as a whole") {
  const DiskWithVolumes disk;
  const auto choice = GENERATE(values<VolumeChoice>({{.mft_only = true}, {.mft_offset = 1 << 20}}));
  core::Findings findings;
  const auto image = read_volumes(disk.open(), choice, {}, findings);
  CHECK(image.is_mft == choice.mft_only);
  const auto chosen = choose_volumes(image, choice);
  REQUIRE(chosen);
  REQUIRE(chosen->volumes.size() == 1);
  CHECK(chosen->volumes.front().number == 0);
  CHECK(chosen->volumes.front().offset == 0);
  CHECK(chosen->volumes.front().size == disk.bytes.size());
}

TEST_CASE("a disk without NTFS has nothing to read, and neither has another volume alone") {
  ImageVolumes image;
  const auto kind = GENERATE(DiskKind::gpt, DiskKind::volume);
  image.disk = {kind, 512, {{.number = 1, .kind = FileKind::fat_volume}}};
  CHECK(fixtures::error_of(choose_volumes(image, {})) == NoVolume::no_ntfs);
  // What has lost its first sector may be a volume where it is alone.
  image.disk.partitions.front().kind = FileKind::unknown;
  CHECK(choose_volumes(image, {}).has_value() == (kind == DiskKind::volume));
}

TEST_CASE("volumes of BitLocker that are locked are told apart") {
  ImageVolumes image;
  image.disk = {DiskKind::gpt,
                512,
                {{.number = 1, .offset = 512, .kind = FileKind::bitlocker_volume},
                 {.number = 2, .offset = 1024, .kind = FileKind::ntfs_volume}}};
  image.bitlocker = locked_at(512);
  const auto check = [&](const VolumeChoice& choice, const std::vector<u64>& volumes,
                         const std::vector<u64>& locked) {
    const auto chosen = choose_volumes(image, choice);
    REQUIRE(chosen);
    CHECK(offsets_of(chosen->volumes) == volumes);
    CHECK(offsets_of(chosen->locked) == locked);
  };
  check({}, {1024}, {512});
  check({.partition = 1}, {}, {512});
  check({.partition = 2}, {1024}, {});
  image.at_offset = image.disk.partitions.front();
  check({.offset = 512}, {}, {512});
  image.bitlocker.at(512).opened = true;
  check({.offset = 512}, {512}, {});
  image.disk.partitions.front().kind = FileKind::ntfs_volume;
  check({}, {512, 1024}, {});
}

TEST_CASE("the volumes that are chosen open, and one without boot sectors by its record 0") {
  DiskWithVolumes disk;
  disk.wipe_boot_sectors(disk.first);
  const VolumeChoice choice{
      .partition = 1, .mft_offset = disk.first + disk.mft_offset, .cluster_size = 4096};
  core::Findings findings;
  const auto image = read_volumes(disk.open(), choice, {}, findings);
  const auto chosen = choose_volumes(image, choice);
  REQUIRE(chosen);
  REQUIRE(chosen->volumes.size() == 1);
  const auto volume =
      open_volume(image, *image.file.source, chosen->volumes.front(), choice, findings);
  REQUIRE(volume);
  CHECK(volume->mft().clusters().volume_offset == disk.first);
  REQUIRE(volume->boot());
  CHECK(volume->boot()->inferred);
}
