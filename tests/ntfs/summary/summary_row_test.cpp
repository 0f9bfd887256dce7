#include "coldtrace/ntfs/summary/summary_row.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

TEST_CASE("a row sums its streams and the clusters that the volume has") {
  const ClusterMap clusters{0, 0x1000, 100};
  SummaryRow row;
  row.add_data("", 0x2800, false);
  row.add_data_extent({0, 3, Lcn{10}}, clusters);
  row.add_data_extent({3, 50, std::nullopt}, clusters);  // a hole
  row.add_data_extent({53, 5, Lcn{98}}, clusters);       // beyond the end of the volume
  row.add_data("stream", 7, true);
  CHECK(row.size == 0x2800);
  CHECK(row.on_disk == 3 * 0x1000 + 7);
  CHECK(row.data_extents == 3);
  CHECK(row.pieces() == 2);
  row.add_stream("$SDS");
  row.add_extent({0, 2, Lcn{20}});
  REQUIRE(row.streams.size() == 3);
  CHECK(row.streams[0].extents == 3);
  CHECK(row.streams[1].extents == 0);
  CHECK(row.streams[2].name == "$SDS");
  CHECK(row.streams[2].extents == 1);
  CHECK(row.extents.size() == 4);
  CHECK(row.data_extents == 3);
  row.clear();
  CHECK_FALSE(row.size);
  CHECK(row.extents.empty());
  CHECK(row.streams.empty());
}

TEST_CASE("sums that are too large stay the largest number") {
  SummaryRow row;
  row.add_data("", ~u64{0}, true);
  row.add_data("stream", 5, true);
  CHECK(row.on_disk == ~u64{0});
}

TEST_CASE("the size of a row is that of its unnamed stream, as lines of snapshots have it") {
  SummaryRow row;
  row.add_data("stream", 7, true);
  CHECK_FALSE(row.size);
  row.add_data("", std::nullopt, true);
  CHECK_FALSE(row.size);
  row.clear();
  row.add_data("", 3, true);
  row.add_data("", 5, true);
  CHECK(row.size == 3);
}
