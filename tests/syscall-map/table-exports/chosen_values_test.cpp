#include "syscall-map/table-exports/chosen_values.hpp"

#include <catch2/catch.hpp>

#include "syscall-map/table-exports/file_version.hpp"

using namespace coldtrace;
using namespace coldtrace::syscall_map;

TEST_CASE("a file version has four numbers of 16 bits, and other texts are none") {
  const auto version = to_version_number("10.0.19041.1");
  REQUIRE(version);
  CHECK(*version == pe::VersionNumber{10, 0, 19041, 1});
  const auto* const text =
      GENERATE("", "10.0.19041", "10.0.19041.65536", "10.0.19041.1 ", "a.b.c.d");
  CAPTURE(text);
  CHECK_FALSE(to_version_number(text));
}

TEST_CASE("names that are left out are told by reason, the first eight of each") {
  LeftOutNames names;
  CHECK(names.empty());
  names.add("A", "no value");
  names.add("B", "a bit field");
  names.add("C", "no value");
  CHECK(names.text() == "A, C: no value; B: a bit field");
  for (int i = 0; i < 9; ++i) names.add("D", "a bit field");
  CHECK(names.text() == "A, C: no value; B, D, D, D, D, D, D, D and 2 more: a bit field");
}

TEST_CASE("another tool is told no value that is weak or only inferred") {
  HookTable build;
  build.members.resize(1);
  auto& member = build.members.front();
  member.name = "Token";
  member.expression = "_EPROCESS.Token";
  member.value = 0x248;
  member.confidence = Confidence::high;
  const MemberRequest request{"EprocessToken", MemberKind::offset, {"_EPROCESS.Token"}, false};
  REQUIRE(find_value(build, request) == &member);
  member.confidence = Confidence::low;
  CHECK(find_value(build, request) == nullptr);
}
