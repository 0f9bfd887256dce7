#include "coldtrace/syscall-map/servicing/missing_members.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace syscall_map;

MemberValue member(std::string name, bool optional, std::optional<u64> value) {
  MemberValue result;
  result.name = std::move(name);
  result.optional = optional;
  result.value = value;
  return result;
}

std::string report(const MissingMembers& missing) {
  core::Findings findings;
  missing.report(findings);
  if (findings.empty()) return {};
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code == "member-missing");
  return findings.all().front().text;
}

TEST_CASE("a build misses the members without a value that a list requires") {
  HookTable table;
  table.members = {member("Token", false, 0x40), member("Peb", false, std::nullopt),
                   member("Later", true, std::nullopt), member("Flags", false, std::nullopt)};
  CHECK(list_missing_members(table) == std::vector<std::string>{"Peb", "Flags"});
}

TEST_CASE("what kernels miss is one finding, of as many kernels and names as can be read") {
  MissingMembers missing;
  missing.add("old", "a/ntoskrnl.exe", {});
  CHECK(report(missing).empty());
  missing.add("old", "a/ntoskrnl.exe", std::vector<std::string>{"Peb", "Flags"});
  CHECK(report(missing) == "for the old kernel, a/ntoskrnl.exe, no given file shows Peb, Flags");
  std::vector<std::string> names;
  for (char name = 'a'; name <= 'i'; ++name) names.emplace_back(1, name);
  missing.add("new", "b/ntoskrnl.exe", names);
  CHECK(report(missing) ==
        "for the old kernel, a/ntoskrnl.exe, no given file shows Peb, Flags; for the new kernel, "
        "b/ntoskrnl.exe, no given file shows a, b, c, d, e, f, g, h and 1 more");
  for (int more = 0; more < 8; ++more) missing.add("new", "c", names);
  CHECK(report(missing).ends_with("; and 2 more"));
}

}  // namespace
}  // namespace coldtrace
