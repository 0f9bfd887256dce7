#include "coldtrace/tracefile/ctrace/ctrace_part.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::tracefile;

namespace {

struct Named {
  const char* name;
  u32 stamp;
  u32 checksum = 0;
};

std::vector<CtracePart> parts_of(std::initializer_list<Named> all) {
  std::vector<CtracePart> parts;
  for (const auto& [name, stamp, checksum] : all) {
    auto& part = parts.emplace_back();
    part.name = name;
    part.header.ntdll.name = "ntdll.dll";
    part.header.ntdll.time_date_stamp = stamp;
    part.header.ntdll.checksum = checksum;
  }
  return parts;
}

}  // namespace

TEST_CASE("files of one trace that name one ntdll.dll have it") {
  const auto one = find_common_ntdll(parts_of({{"a.ctrace", 7}}));
  REQUIRE(one);
  CHECK(one->time_date_stamp == 7);
  const auto same =
      find_common_ntdll(parts_of({{"a.ctrace", 7, 3}, {"b.ctrace", 7, 3}, {"c.ctrace", 7, 3}}));
  REQUIRE(same);
  CHECK(same->checksum == 3);
}

TEST_CASE("files that name none have none in common") {
  const auto unknown = find_common_ntdll(parts_of({{"a.ctrace", 0}, {"b.ctrace", 0}}));
  REQUIRE(unknown);
  CHECK_FALSE(unknown->known());
  const auto none = find_common_ntdll({});
  REQUIRE(none);
  CHECK_FALSE(none->known());
}

TEST_CASE("the first file that names another ntdll.dll is told, with the one that it contradicts") {
  const auto other =
      GENERATE(values<Named>({{"b.ctrace", 8, 3}, {"b.ctrace", 7, 4}, {"b.ctrace", 0}}));
  const auto found = find_common_ntdll(parts_of({{"a.ctrace", 7, 3}, other, {"c.ctrace", 9}}));
  REQUIRE_FALSE(found);
  CHECK(found.error() == "b.ctrace names a different one than a.ctrace");
}
