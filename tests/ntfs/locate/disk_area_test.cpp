#include "coldtrace/ntfs/locate/disk_area.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

TEST_CASE("a byte of a disk is of clusters, of a partition, or of none") {
  using Kind = DiskArea::Kind;
  // A volume of 15 clusters of 4 KiB in a partition of 64 KiB at 1 MiB, and a partition behind it.
  constexpr u64 start = 0x100000;
  const std::array volumes{VolumeArea{{start, 0x1000, 15}, start, 0x10000}};
  const std::vector<Partition> partitions{
      {.number = 1, .offset = start, .size = 0x10000, .type = "0x07", .name = {}, .kind = {}},
      {.number = 2, .offset = 0x200000, .size = 0x1000, .type = "0x83", .name = {}, .kind = {}}};
  struct Row {
    const char* why;
    u64 offset;
    Kind kind;
    std::size_t index;
  };
  const auto row = GENERATE(values<Row>({
      {"before all partitions", start - 1, Kind::unpartitioned, 0},
      {"the first byte of the volume", start, Kind::clusters, 0},
      {"the last byte of its last cluster", start + 0xefff, Kind::clusters, 0},
      {"the copy of the boot sector", start + 0xf000, Kind::outside_volume, 0},
      {"behind the partition", start + 0x10000, Kind::unpartitioned, 0},
      {"a partition that is not a volume", 0x200fff, Kind::other_partition, 1},
      {"behind the image", 0x300000, Kind::outside_image, 0},
      {"the greatest number", ~u64{0}, Kind::outside_image, 0},
  }));
  CAPTURE(row.why);
  const auto area = find_area(row.offset, 0x300000, volumes, partitions);
  CHECK(area.kind == row.kind);
  CHECK(area.index == row.index);
}

TEST_CASE("clusters of a volume are its own where the image is cut off") {
  const std::array volumes{VolumeArea{{0, 0x1000, 15}, 0, 0x10000}};
  CHECK(find_area(0xe000, 0x8000, volumes, {}).kind == DiskArea::Kind::clusters);
}
