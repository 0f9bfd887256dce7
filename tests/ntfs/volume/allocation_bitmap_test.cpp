#include "ntfs/volume/allocation_bitmap.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/image_source.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace {
namespace {

using fixtures::NtfsImage;

// A volume whose $Bitmap, record 6, has `size` bytes in two clusters: every third cluster is
// somebody's.
struct BitmapVolume {
  std::vector<std::byte> bytes;
  u64 bitmap = 0;  // where it lies

  explicit BitmapVolume(u64 size) {
    NtfsImage image{{.clusters = 256, .records = 60}};
    const u64 lcn = image.allocate(2);
    image.add_reserved(6);
    image.file(6) = {.names = {{.parent = 5, .name = u"$Bitmap", .name_space = 3}},
                     .streams = {{.runs = {{lcn, 2}}, .size = size}},
                     .sequence = 6,
                     .dos_attributes = 6};
    bytes = image.build();
    bitmap = lcn * 4096;
    for (u64 cluster = 0; cluster < u64{2} * 4096 * 8; cluster += 3)
      bytes[bitmap + cluster / 8] |= static_cast<std::byte>(1U << cluster % 8);
  }
};

u64 thirds(u64 start, u64 end) {
  u64 count = 0;
  for (; start < end; ++start) count += start % 3 == 0 ? 1 : 0;
  return count;
}

struct CountRow {
  const char* why;
  u64 start, end, known;  // the bitmap ends before `known`
};

TEST_CASE("the bits of $Bitmap say which clusters are somebody's") {
  constexpr u64 size = 5000, bits = size * 8, block = u64{4096} * 8;
  const BitmapVolume volume{size};
  const core::MemoryImage source{volume.bytes};
  core::Findings findings;
  const auto opened = ntfs::Volume::open(source, 0, source.size(), findings);
  REQUIRE(opened);
  ntfs::AllocationBitmap bitmap{*opened};
  for (const u64 cluster : {u64{0}, u64{1}, u64{2}, u64{3}, u64{7}, u64{8}, u64{9}, u64{15},
                            block - 1, block, block + 1, u64{3}, bits - 1}) {
    CAPTURE(cluster);
    CHECK(bitmap.is_allocated(cluster) == (cluster % 3 == 0));
  }
  CHECK_FALSE(bitmap.is_allocated(bits));

  const CountRow rows[] = {
      {"none", 9, 9, 9},
      {"one", 9, 10, 10},
      {"inside of a byte", 9, 14, 14},
      {"bytes in part and whole ones", 5, 83, 83},
      {"across blocks", block - 9, block + 9, block + 9},
      {"all", 0, bits, bits},
      {"more than there are", bits - 10, bits + 7, bits},
      {"behind all", bits + 8, bits + 20, bits + 8},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    const auto count = bitmap.count(row.start, row.end);
    CHECK(count.allocated == thirds(row.start, row.known));
    CHECK(count.unknown == row.end - row.known);
  }
}

TEST_CASE("without $Bitmap nothing is known of any cluster") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const auto bytes = image.build();
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto opened = ntfs::Volume::open(source, 0, source.size(), findings);
  REQUIRE(opened);
  ntfs::AllocationBitmap bitmap{*opened};
  CHECK_FALSE(bitmap.is_allocated(0));
  CHECK(bitmap.count(4, 20).unknown == 16);
}

}  // namespace
}  // namespace coldtrace
