#include "coldtrace/ntfs/gap.hpp"

#include <random>
#include <set>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("the records of gaps are those of any, however they lie to each other") {
  std::mt19937 source{1};
  const auto random = [&](u64 most) { return source() % most; };
  for (int round = 0; round < 200; ++round) {
    ntfs::LostRecords lost;
    std::set<u64> expected;
    for (u64 i = random(12); i > 0; --i) {
      const ntfs::Gap gap{0, 0, ntfs::Gap::Lost::records, random(60), random(9)};
      lost.add(gap);
      for (u64 record = gap.first; record < gap.first + gap.count; ++record)
        expected.insert(record);
      lost.add({0, 0, ntfs::Gap::Lost::index, random(60), 1});
    }
    for (u64 record = 0; record < 80; ++record)
      REQUIRE(lost.contain(record) == expected.contains(record));
  }
}

TEST_CASE("records that follow others in number and place are one gap with them") {
  using Lost = ntfs::Gap::Lost;
  struct Row {
    const char* why;
    ntfs::Gap first, second;
    std::size_t gaps;
  };
  const auto [why, first, second, gaps] = GENERATE(values<Row>({
      {"one behind the other",
       {0, 2048, Lost::records, 7, 2},
       {2048, 1024, Lost::records, 9, 1},
       1},
      {"another place", {0, 2048, Lost::records, 7, 2}, {4096, 1024, Lost::records, 9, 1}, 2},
      {"other numbers", {0, 2048, Lost::records, 7, 2}, {2048, 1024, Lost::records, 10, 1}, 2},
      {"an index", {0, 2048, Lost::records, 7, 2}, {2048, 4096, Lost::index, 9, 1}, 2},
      {"indexes", {0, 4096, Lost::index, 7, 1}, {4096, 4096, Lost::index, 8, 1}, 2},
      {"no end", {0, 8, Lost::records, 7, ~u64{0}}, {8, 8, Lost::records, 7, 1}, 2},
  }));
  CAPTURE(why);
  std::vector<ntfs::Gap> found;
  append_gap(found, first);
  append_gap(found, second);
  REQUIRE(found.size() == gaps);
  CHECK(found.front().length == first.length + (gaps == 1 ? second.length : 0));
  CHECK(found.front().count == first.count + (gaps == 1 ? second.count : 0));
}

TEST_CASE("a gap that says no end has none") {
  ntfs::LostRecords lost;
  lost.add({0, 0, ntfs::Gap::Lost::records, 7, ~u64{0}});
  lost.add({0, 0, ntfs::Gap::Lost::records, 2, 1});
  CHECK(lost.contain(2));
  CHECK_FALSE(lost.contain(6));
  CHECK(lost.contain(7));
  CHECK(lost.contain(u64{1} << 48));
}

}  // namespace
}  // namespace coldtrace
