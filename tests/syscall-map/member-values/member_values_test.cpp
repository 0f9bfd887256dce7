#include "coldtrace/syscall-map/member_values.hpp"

#include <array>

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

TEST_CASE("a member that nothing shows has no value, and is missed where it is required") {
  const test::Opened image{fixtures::PeSpec{}};
  REQUIRE(image);
  const KernelView kernel{*image};
  const HookTable table;
  const std::array requests{
      MemberRequest{"Token", MemberKind::offset, {"_EPROCESS.Token"}, false},
      MemberRequest{"Later", MemberKind::offset, {"_EPROCESS.Later"}, true},
  };
  core::Findings findings;
  const auto members = find_members(requests, kernel, table, {}, {}, findings);
  REQUIRE(members.size() == 2);
  CHECK(members[0].name == "Token");
  CHECK_FALSE(members[0].value);
  CHECK_FALSE(members[1].value);
  CHECK(findings.count("member-missing") == 1);
}

TEST_CASE("an export is the place of its name") {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{"ntoskrnl.exe", 1, {{"PsInitialSystemProcess", 1, 0x1000}}};
  const test::Opened image{spec};
  REQUIRE(image);
  const KernelView kernel{*image};
  const HookTable table;
  const std::array requests{
      MemberRequest{"System", MemberKind::global, {"NoSuchName", "PsInitialSystemProcess"}, false}};
  core::Findings findings;
  const auto members = find_members(requests, kernel, table, {}, {}, findings);
  REQUIRE(members.size() == 1);
  CHECK(members[0].value == 0x1000);
  CHECK(members[0].expression == "PsInitialSystemProcess");
  CHECK(findings.empty());
}

}  // namespace
}  // namespace coldtrace
