#include "coldtrace/ntfs/summary/volume_summary.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

TEST_CASE("the map ends with the volume") {
  const auto clusters =
      GENERATE(u64{0}, u64{1}, u64{511}, u64{512}, u64{513}, u64{767}, u64{64767}, ~u64{0});
  CAPTURE(clusters);
  const VolumeSummary summary{clusters, 1};
  const u64 each = summary.clusters_of_place(), places = summary.map().size();
  CHECK(places <= VolumeSummary::places);
  CHECK(summary.clusters() == clusters);
  // The last place begins before the end, and ends at it or behind it.
  CHECK((places == 0) == (clusters == 0));
  if (places == 0) return;
  CHECK((places - 1) * each < clusters);
  CHECK(clusters - (places - 1) * each <= each);
}

TEST_CASE("clusters behind the end of the volume are in no place") {
  constexpr u64 clusters = 767;
  SummaryRow row;
  row.record = 30;
  row.first_of_file = true;
  row.add_data("", 0, false);
  row.add_data_extent({0, 10'000, Lcn{0}}, {0, 4096, clusters});
  VolumeSummary summary{clusters, 1};
  summary.add(row);
  u64 live = 0;
  for (const auto& place : summary.map()) live += place.live;
  CHECK(live == clusters);
  CHECK(summary.map().back().live == 1);
}
