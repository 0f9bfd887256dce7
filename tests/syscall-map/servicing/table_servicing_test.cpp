#include "coldtrace/syscall-map/servicing/table_servicing.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::syscall_map;

namespace {

pe::Identity kernel_of(u32 stamp) {
  pe::Identity identity{};
  identity.machine = pe::Machine::amd64;
  identity.time_date_stamp = stamp;
  identity.size_of_image = 0x1000;
  return identity;
}

ServicedModule module_at(const std::string& path, u32 stamp) {
  return {path, path, kernel_of(stamp), ImageRole::kernel};
}

RowChange row_of(RowState state, std::string name, std::string reason = {}) {
  RowChange row;
  row.state = state;
  row.name = std::move(name);
  row.reason = std::move(reason);
  return row;
}

}  // namespace

TEST_CASE("rows of each state are counted, and those that break something are warned of") {
  const auto changes =
      count_states({row_of(RowState::survives, "NtOpenFile"), row_of(RowState::moved, "NtClose"),
                    row_of(RowState::gone, "NtOld", "no export has the name"),
                    row_of(RowState::moved, ""), row_of(RowState::added, "NtNew")});
  CHECK(changes.count(RowState::survives) == 1);
  CHECK(changes.count(RowState::moved) == 2);
  CHECK(changes.count(RowState::unproved) == 0);
  CHECK(changes.count(RowState::added) == 1);
  core::Findings findings;
  note_row_changes("t.json", changes.rows, findings);
  REQUIRE(findings.all().size() == 2);
  CHECK(findings.count("servicing-moved") == 2);
  CHECK(findings.all()[0].text == "t.json: service NtClose is at a different place");
  CHECK(findings.all()[1].text == "t.json: service NtOld is gone: no export has the name");
}

TEST_CASE("a table's members are asked for as the user asks, else as the table found them") {
  HookTable table;
  table.members.resize(3);
  table.members[0].name = "Token";
  table.members[0].expression = "_EPROCESS.Token";
  table.members[0].value = 0x248;
  table.members[1].name = "Absent";
  table.members[2].name = "Pid";
  table.members[2].expression = "_EPROCESS.UniqueProcessId";
  table.members[2].value = 0x1d0;
  const std::array given{
      MemberRequest{
          "Pid", MemberKind::offset, {"_EPROCESS.UniqueProcessId", "_KPROCESS.Pid"}, false},
      MemberRequest{"Token", MemberKind::size, {"_EX_FAST_REF"}, false}};
  const auto requests = repeat_requests(table, given);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0] == MemberRequest{"Token", MemberKind::offset, {"_EPROCESS.Token"}, true});
  CHECK(requests[1] == given[0]);
}

TEST_CASE("a kernel has the build of its file, else that of a copy") {
  const auto image = [](const char* path, u32 stamp) {
    return BuildFiles{{ImageRole::kernel, path, kernel_of(stamp), {}}};
  };
  const std::vector builds{image("a/kernel", 1), image("b/kernel", 2), image("c/kernel", 2)};
  CHECK(find_build(builds, module_at("c/kernel", 2)) == &builds[2]);
  CHECK(find_build(builds, module_at("copy/kernel", 2)) == &builds[1]);
  CHECK(find_build(builds, module_at("d/kernel", 3)) == nullptr);
}

TEST_CASE("of the pairs of a kernel those without a new one count where no other has one") {
  const std::vector before{module_at("a/kernel", 1), module_at("b/kernel", 1),
                           module_at("c/kernel", 2)};
  const auto numbers = [&](const std::vector<ModulePair>& pairs, u32 stamp) {
    std::vector<std::size_t> found;
    for (const auto& pair : pairs_of_kernel(pairs, before, kernel_of(stamp)))
      found.push_back(*pair.before);
    return found;
  };
  const ModulePair first{0, std::nullopt}, second{1, 7}, third{2, 8}, added{std::nullopt, 9};
  CHECK(numbers({added, first, second, third}, 1) == std::vector<std::size_t>{1});
  CHECK(numbers({first, {1, std::nullopt}}, 1) == std::vector<std::size_t>{0});
  CHECK(numbers({first, second}, 2).empty());
}

TEST_CASE("builds of a table without a kernel are told, and warned of where all are") {
  const auto told = [](std::size_t missing, std::size_t builds) {
    core::Findings findings;
    note_missing_kernels("driver.json", "old", missing, builds, findings);
    return findings;
  };
  CHECK(told(0, 2).empty());
  const auto of_one = told(1, 2);
  CHECK(of_one.all().front().text ==
        "driver.json: old has no kernel of 1 of its 2 builds, so nothing is said about its rows");
  CHECK_FALSE(of_one.has_warnings());
  CHECK(told(2, 2).count("servicing-table") == 1);
  CHECK(told(2, 2).has_warnings());
  CHECK(told(1, 1).has_warnings());
}

TEST_CASE("what a table was made of is a kernel, and so is its successor of the same name") {
  const auto called = [](const std::string& name, u32 stamp, std::optional<ImageRole> role = {}) {
    ServicedModule module{name, name, kernel_of(stamp), role};
    module.identity.name = name;
    return module;
  };
  HookTable build;
  build.images.push_back({ImageRole::kernel, "custom.exe", kernel_of(7), {}});
  std::vector before{called("custom.exe", 7), called("other.exe", 8),
                     called("ntdll.dll", 7, ImageRole::ntdll)};
  mark_kernels(before, HookTable{});
  CHECK_FALSE(before[0].role);
  mark_kernels(before, build);
  CHECK(before[0].role == ImageRole::kernel);
  CHECK_FALSE(before[1].role);
  CHECK(before[2].role == ImageRole::ntdll);
  std::vector after{called("CUSTOM.EXE", 9), called("renamed.exe", 9), called("other.exe", 9),
                    called("custom.exe", 9, ImageRole::ntdll)};
  const std::vector<ModulePair> pairs{
      {0, 0, PairedBy::path}, {0, 1, PairedBy::given},           {1, 2, PairedBy::path},
      {0, 3, PairedBy::path}, {0, std::nullopt, PairedBy::none}, {std::nullopt, 1, PairedBy::none}};
  mark_kernels(before, after, pairs);
  CHECK(after[0].role == ImageRole::kernel);
  CHECK_FALSE(after[1].role);
  CHECK_FALSE(after[2].role);
  CHECK(after[3].role == ImageRole::ntdll);
}
