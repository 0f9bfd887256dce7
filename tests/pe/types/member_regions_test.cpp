#include "coldtrace/pdb/member_regions.hpp"

#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using Kind = pe::Region::Kind;

pe::PlacedMember at(u64 offset, u64 size) {
  return {"", 0x75, offset, size};
}

pe::PlacedMember bits(u64 offset, u64 size, u8 position, u8 length) {
  return {"", 0x75, offset, size, position, length};
}

// Where each member comes to lie when the regions are laid out one after the other, and how many
// members the regions have.
u64 check(const pe::Region& region, const std::vector<pe::PlacedMember>& members) {
  u64 count = 0;
  u64 end = region.offset;
  for (const auto& part : region.parts) {
    if (region.kind == Kind::sequence) CHECK(part.offset >= end);
    if (region.kind == Kind::alternatives) CHECK(part.offset == region.offset);
    CHECK(part.offset + part.size <= region.offset + region.size);
    end = part.offset + part.size;
    u8 next_bit = 0;
    for (const auto number : part.members) {
      CHECK(members[number].offset == part.offset);
      CHECK(members[number].size == part.size);
      CHECK(members[number].bit_position >= next_bit);
      next_bit = static_cast<u8>(members[number].bit_position + members[number].bit_length);
      ++count;
    }
    count += check(part, members);
  }
  return count;
}

TEST_CASE("members one after the other need no union") {
  const std::vector members = {at(0, 4), at(8, 8), at(16, 0)};
  const auto regions = pe::regions_of(members, 16, false);
  CHECK(regions.parts.size() == 3);
  CHECK(check(regions, members) == 3);
}

TEST_CASE("a member that begins where an earlier one did begins an alternative") {
  // struct { u32; union { u32; struct { u16, u16; }; }; u8; }
  const std::vector members = {at(0, 4), at(4, 4), at(4, 2), at(6, 2), at(8, 1)};
  const auto regions = pe::regions_of(members, 12, false);
  REQUIRE(regions.parts.size() == 3);
  REQUIRE(regions.parts[1].kind == Kind::alternatives);
  CHECK(regions.parts[1].parts.size() == 2);
  CHECK(regions.parts[1].size == 4);
  CHECK(check(regions, members) == 5);
}

TEST_CASE("bit fields of one integer are one region") {
  const std::vector members = {bits(0, 4, 0, 1), bits(0, 4, 3, 3), bits(4, 8, 0, 40), at(12, 2)};
  const auto regions = pe::regions_of(members, 16, false);
  REQUIRE(regions.parts.size() == 3);
  CHECK(regions.parts[0].kind == Kind::bits);
  CHECK(regions.parts[0].members.size() == 2);
  CHECK(check(regions, members) == 4);
}

TEST_CASE("what goes back to before what is laid out is alone, at its place") {
  const std::vector members = {at(0, 4), at(4, 4), at(2, 4)};
  const auto regions = pe::regions_of(members, 8, false);
  REQUIRE(regions.parts.size() == 1);
  CHECK(regions.parts[0].kind == Kind::alternatives);
  CHECK(regions.parts[0].parts.size() == members.size());
  for (const auto& part : regions.parts[0].parts) CHECK(part.parts.size() == 1);
}

TEST_CASE(
    "what overlaps as no union explains is in alternatives, and the rest of the type is not") {
  // Two bit fields at one bit, as a union of them inside a run has it; two runs of bit fields and
  // two structures whose members are in the order of their places.
  for (const auto& members :
       {std::vector{bits(0, 2, 0, 15), bits(0, 2, 15, 1), bits(0, 2, 15, 1)},
        std::vector{bits(0, 1, 0, 2), bits(0, 1, 0, 1), bits(0, 1, 1, 7), bits(0, 1, 2, 6)},
        std::vector{at(0, 4), at(0, 2), at(2, 4), at(4, 2)}}) {
    auto all = members;
    all.push_back(at(8, 4));
    const auto regions = pe::regions_of(all, 12, false);
    REQUIRE(regions.parts.size() == 2);
    CHECK(regions.parts[0].kind == Kind::alternatives);
    CHECK(regions.parts[0].parts.size() == 2);
    CHECK(regions.parts[1].kind == Kind::member);
    CHECK(check(regions, all) == all.size());
  }
}

TEST_CASE("a union has an alternative for each member at its start") {
  const std::vector members = {at(0, 8), at(0, 4), at(4, 4), bits(0, 4, 0, 3), bits(0, 4, 3, 5)};
  const auto regions = pe::regions_of(members, 8, true);
  REQUIRE(regions.parts.size() == 1);
  CHECK(regions.parts[0].parts.size() == 3);
  CHECK(check(regions, members) == 5);
}

TEST_CASE("members behind the end are left out") {
  const std::vector members = {at(0, 4), at(4, 8), at(~u64{0}, 4)};
  CHECK(check(pe::regions_of(members, 8, false), members) == 1);
  CHECK(check(pe::regions_of(members, 8, true), members) == 1);
  CHECK(check(pe::regions_of(members, 0, false), members) == 0);
}

}  // namespace
}  // namespace coldtrace
