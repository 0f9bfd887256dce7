#include "coldtrace/ntfs/snapshot-file/stated_clusters.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace ntfs;

constexpr u64 most = ~u64{0};

TEST_CASE("clusters are where the line of a volume says, as far as that can be") {
  struct Row {
    const char* why;
    StatedClusters stated;
    ClusterMap map;
    bool size_fits, count_fits;
  };
  const auto row = GENERATE(values<Row>({
      {"the volume begins its partition",
       {false, 4096, 100, 0x8000, 2, 0xa000},
       {0x8000, 4096, 100},
       true,
       true},
      {"the volume begins further on",
       {false, 4096, 100, 0x8000, 2, 0xb000},
       {0x9000, 4096, 100},
       true,
       true},
      {"$MFT is in front of the disk",
       {false, 4096, 100, 0x8000, 16, 0xb000},
       {0x8000, 4096, 100},
       true,
       true},
      {"the volume begins the disk, whatever its partition",
       {false, 4096, 100, 0x8000, 2, 0x2000},
       {0, 4096, 100},
       true,
       true},
      {"no place of $MFT", {false, 4096, 100, 0x8000, {}, {}}, {0x8000, 4096, 100}, true, true},
      {"half of a place", {false, 4096, 100, 0x8000, 2, {}}, {0x8000, 4096, 100}, true, true},
      {"no size", {false, {}, 100, 0x8000, {}, {}}, {}, false, true},
      {"the largest cluster", {false, u64{1} << 21, 1, 0, {}, {}}, {0, 1 << 21, 1}, true, true},
      {"a larger one", {false, (u64{1} << 21) + 1, 1, 0, {}, {}}, {}, false, true},
      {"no count", {false, 4096, {}, 0x8000, {}, {}}, {0x8000, 4096, 0}, true, false},
      {"bytes beyond 64 bits", {false, 4096, most, 0, {}, {}}, {}, true, false},
      {"as far as a disk may reach", {false, 1, most / 2, 0, {}, {}}, {0, 1, most / 2}, true, true},
      {"beyond that", {false, 1, most / 2, 1, {}, {}}, {}, true, false},
      {"a place of $MFT beyond it", {false, 1, 100, 0, 0, most}, {}, true, false},
      {"$MFT alone, whatever it says", {true, 3, most, most, 1, 1}, {}, true, true},
  }));
  CAPTURE(row.why);
  const auto placed = place_clusters(row.stated);
  CHECK(placed.map.volume_offset == row.map.volume_offset);
  CHECK(placed.map.cluster_size == row.map.cluster_size);
  CHECK(placed.map.clusters == row.map.clusters);
  CHECK(placed.size_fits == row.size_fits);
  CHECK(placed.count_fits == row.count_fits);
}

TEST_CASE("a $MFT alone has no places on a disk, and that is told") {
  core::Findings findings;
  CHECK(has_places_on_disk(false, findings));
  CHECK(findings.empty());
  CHECK_FALSE(has_places_on_disk(true, findings));
  CHECK(findings.count("snapshot-without-places") == 1);
  CHECK(findings.has_warnings());
}

}  // namespace
}  // namespace coldtrace
