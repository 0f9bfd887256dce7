#include "coldtrace/syscall-map/hook-table/hook_table_builds.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace syscall_map;

HookTable build_of(u32 stamp, u64 offset, bool planned) {
  HookTable build;
  HookTableImage kernel{ImageRole::kernel, "ntoskrnl.exe", {}, {}};
  kernel.identity.time_date_stamp = stamp;
  build.images.push_back(kernel);
  MemberValue member;
  member.name = "_EPROCESS.Pcb";
  member.value = offset;
  build.members.push_back(member);
  if (planned) build.trace_points.emplace_back();
  return build;
}

TEST_CASE("builds of other kernels are kept, and the same one is told once") {
  std::vector<HookTable> builds;
  core::Findings other, twice, conflict;
  add_build(builds, build_of(1, 8, false), other);
  add_build(builds, build_of(2, 8, false), other);
  CHECK(builds.size() == 2);
  CHECK(other.empty());
  add_build(builds, build_of(1, 8, false), twice);
  CHECK(builds.size() == 2);
  REQUIRE(twice.count("image-twice") == 1);
  CHECK(twice.all().front().text.find("0x00000001") != std::string::npos);
  CHECK_FALSE(twice.has_warnings());
  add_build(builds, build_of(2, 16, false), conflict);
  CHECK(builds.size() == 2);
  REQUIRE(conflict.count("build-conflict") == 1);
  CHECK(conflict.all().front().text.find("differs in 1 value") != std::string::npos);
  CHECK(conflict.has_warnings());
  CHECK(builds[1].members.front().value == 8);  // the earlier one
}

TEST_CASE("a plan is taken from whichever table has one") {
  std::vector<HookTable> builds;
  core::Findings findings;
  add_build(builds, build_of(1, 8, false), findings);
  add_build(builds, build_of(1, 8, true), findings);
  CHECK(builds.front().trace_points.size() == 1);
  add_build(builds, build_of(1, 8, false), findings);
  CHECK(findings.count("image-twice") == 2);
  CHECK_FALSE(findings.has_warnings());
}

}  // namespace
}  // namespace coldtrace
