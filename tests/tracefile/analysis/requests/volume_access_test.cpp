#include "coldtrace/trace_analysis/requests/volume_access.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

void add(VolumeAccess& access, DiskAction action, u64 at, std::optional<u64> bytes, u32 file) {
  DiskRequest request{};
  request.action = action;
  request.bytes = bytes;
  access.add(at, {request, file, {}, nullptr});
}

// Four places of 4 KiB at 1 MiB, the last of which is half a one.
constexpr u64 begin = 0x10'0000;
VolumeAccess volume() {
  return {begin, 0x3800, 0x1000, 4};
}

}  // namespace

TEST_CASE("a request counts with its place, its file and the whole volume") {
  auto access = volume();
  add(access, DiskAction::read, begin + 0x1000, 0x200, 7);
  add(access, DiskAction::write, begin + 0x11ff, 1, 7);
  add(access, DiskAction::read, begin, 0x1000, 0);
  CHECK(access.all().reads == 2);
  CHECK(access.all().read == 0x1200);
  CHECK(access.all().writes == 1);
  CHECK(access.all().written == 1);
  CHECK(access.places()[0].read == 0x1000);
  CHECK(access.places()[1].requests() == 2);
  CHECK(access.places()[2].requests() == 0);
  REQUIRE(access.files().size() == 2);
  CHECK(access.files().at(7).read == 0x200);
  CHECK(access.files().at(0).reads == 1);
}

TEST_CASE("a request over several places counts in each, with its bytes there") {
  auto access = volume();
  add(access, DiskAction::write, begin + 0xf00, 0x1200, 1);
  CHECK(access.all().writes == 1);
  CHECK(access.places()[0].written == 0x100);
  CHECK(access.places()[1].written == 0x1000);
  CHECK(access.places()[2].written == 0x100);
  CHECK(access.places()[3].requests() == 0);
}

TEST_CASE("what begins elsewhere or moves nothing to or from the disk does not count") {
  auto access = volume();
  add(access, DiskAction::read, begin - 1, 0x2000, 1);
  add(access, DiskAction::read, begin + 0x3800, 1, 1);
  add(access, DiskAction::flush, begin, std::nullopt, 1);
  CHECK(access.all().requests() == 0);
  CHECK(access.files().empty());
}

TEST_CASE("sums that are too large stay the largest number") {
  auto access = volume();
  add(access, DiskAction::read, begin, ~u64{0}, 1);
  add(access, DiskAction::read, begin, ~u64{0}, 1);
  CHECK(access.all().read == ~u64{0});
  CHECK(access.places()[3].read == 0x2000);
}
