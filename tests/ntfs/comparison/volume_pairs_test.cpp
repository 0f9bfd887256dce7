#include "coldtrace/ntfs/comparison/volume_pairs.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;
using Pairs = std::vector<VolumePairs::Pair>;
using Numbers = std::vector<std::size_t>;

namespace {

ComparedView view(u64 start, u32 shadow = 0) {
  return {start, shadow, {}, {}};
}

}  // namespace

TEST_CASE("the only views of both sides are a pair, wherever they start and whatever they are") {
  const std::vector before{view(512, 2)}, after{view(1024)};
  CHECK(pair_volumes(before, after).pairs == Pairs{{0, 0}});
}

TEST_CASE("volumes that start at the same place are a pair, and others are alone") {
  const std::vector before{view(512), view(4096), view(9999)}, after{view(4096), view(8192)};
  const auto found = pair_volumes(before, after);
  CHECK(found.pairs == Pairs{{1, 0}});
  CHECK(found.before_alone == Numbers{0, 2});
  CHECK(found.after_alone == Numbers{1});
}

TEST_CASE("of several views of a volume the same shadow copies are compared") {
  const std::vector before{view(512, 1), view(512, 2), view(512)}, after{view(512), view(512, 2)};
  const auto found = pair_volumes(before, after);
  CHECK(found.pairs == Pairs{{1, 1}, {2, 0}});
  CHECK(found.before_alone == Numbers{0});
  CHECK(found.after_alone.empty());
}

TEST_CASE("one volume on either side is the same one wherever it starts, view by view") {
  const std::vector before{view(512, 1), view(512)}, after{view(1024), view(1024, 1)};
  CHECK(pair_volumes(before, after).pairs == Pairs{{0, 1}, {1, 0}});
}

TEST_CASE("two serial numbers, and names that are hashed in two ways, are warnings") {
  auto before = view(0), after = view(512);
  core::Findings same, other, one_side, two_keys;
  before.serial_number = "aa";
  note_pair(before, after, same);  // that of the other is not known
  after.serial_number = "aa";
  note_pair(before, after, same);
  CHECK(same.empty());
  after.serial_number = "bb";
  note_pair(before, after, other);
  REQUIRE(other.all().size() == 1);
  CHECK(other.all().front().code.view() == "volume-other");
  CHECK(other.all().front().first_offset == 512);
  CHECK(other.has_warnings());
  after.serial_number.clear();
  after.names_key = "k1";
  note_pair(before, after, one_side);
  REQUIRE(one_side.count("names-key") == 1);
  CHECK(one_side.all().front().text.starts_with("the names of one side are hashed"));
  before.names_key = "k2";
  note_pair(before, after, two_keys);
  REQUIRE(two_keys.count("names-key") == 1);
  CHECK(two_keys.all().front().text.starts_with("the names of the two sides are hashed"));
}
