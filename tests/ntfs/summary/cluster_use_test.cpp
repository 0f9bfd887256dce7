#include "coldtrace/ntfs/summary/cluster_use.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

TEST_CASE("clusters of files that $Bitmap calls free are summed up over the volume") {
  std::vector<ClusterUse> uses(3);
  core::Findings none, some;
  note_cluster_use(uses, none);
  CHECK(none.empty());
  uses[0].contradicted = 2;
  uses[2].contradicted = 5;
  note_cluster_use(uses, some);
  REQUIRE(some.count("cluster-bitmap") == 1);
  CHECK(some.all().front().text.find(" 7 clusters of files that are not deleted are free") !=
        std::string::npos);
  CHECK(some.has_warnings());
}
