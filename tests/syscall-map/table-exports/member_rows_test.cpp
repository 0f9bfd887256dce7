#include "coldtrace/syscall-map/table-exports/member_rows.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::syscall_map;

namespace {

// The kernel of a build, with the values of `members` by their expressions.
HookTable build(u32 stamp, std::optional<std::string> version,
                const std::vector<std::pair<std::string, u64>>& members,
                pe::Machine machine = pe::Machine::amd64) {
  HookTable table;
  HookTableImage kernel;
  kernel.identity.name = "ntoskrnl.exe";
  kernel.identity.machine = machine;
  kernel.identity.time_date_stamp = stamp;
  kernel.identity.size_of_image = 0xa46000;
  kernel.identity.file_version = std::move(version);
  kernel.sha256 = "00ff";
  table.images.push_back(std::move(kernel));
  for (const auto& [expression, value] : members) {
    MemberValue member;
    member.name = expression;
    member.expression = expression;
    member.value = value;
    member.from_pdb = true;
    member.confidence = Confidence::high;
    table.members.push_back(std::move(member));
  }
  return table;
}

u64 column(const EdrsandblastRow& row, std::string_view name) {
  const auto columns = edrsandblast_columns();
  REQUIRE(row.values.size() == columns.size());
  const auto at = std::ranges::find(columns, name);
  REQUIRE(at != columns.end());
  return row.values[static_cast<std::size_t>(at - columns.begin())];
}

const std::vector<std::pair<std::string, u64>> protection{{"_EPROCESS.Protection", 0x87a}};
const std::vector<std::pair<std::string, u64>> object_table{{"_EPROCESS.ObjectTable", 0x570}};

}  // namespace

// ntoskrnl_19041-1165.exe of EDRSandblast's own table has Protection at 0x87a.
TEST_CASE("EDRSandblast: a row has build and revision, and 0 for what is not known") {
  const std::vector builds{build(2, "10.0.19041.1165", protection),
                           build(1, "10.0.17763.1", protection)};
  core::Findings findings;
  const auto rows = make_edrsandblast_rows(builds, findings);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].build == 17763);
  CHECK(rows[0].revision == 1);
  CHECK(rows[1].build == 19041);
  CHECK(rows[1].revision == 1165);
  CHECK(column(rows[1], "_EPROCESS_Protection") == 0x87a);
  CHECK(std::ranges::count(rows[1].values, 0U) ==
        static_cast<std::ptrdiff_t>(rows[1].values.size() - 1));
  CHECK(findings.count("hook-value") == 1);
  CHECK(findings.count("hook-row") == 0);
}

TEST_CASE("EDRSandblast: builds that its reader cannot find or use are left out with a reason") {
  struct Row {
    const char* why;
    HookTable build;
    const char* reason;
  };
  HookTable no_kernel;
  auto weak = build(1, "10.0.1.2", protection);
  weak.members[0].confidence = Confidence::low;
  const auto row = GENERATE_COPY(values<Row>({
      {"another machine", build(1, "10.0.1.2", protection, pe::Machine::arm64), "x64 kernels"},
      {"no version", build(1, {}, protection), "no file version"},
      {"a version of other numbers", build(1, "10.0.1", protection), "no file version"},
      {"no members", build(1, "10.0.1.2", {}), "without a member list"},
      {"other members", build(1, "10.0.1.2", {{"_X.Y", 8}}), "different members"},
      {"no reliable one", weak, "nothing reliable"},
      {"no kernel", no_kernel, "without a kernel"},
  }));
  CAPTURE(row.why);
  core::Findings findings;
  CHECK(make_edrsandblast_rows({&row.build, 1}, findings).empty());
  REQUIRE(findings.count("hook-row") == 1);
  CHECK(findings.all().front().text.find(row.reason) != std::string::npos);
}

TEST_CASE("EDRSandblast: of two kernels with one key the first is kept, and a contradiction told") {
  const auto second = GENERATE(u64{0x87a}, u64{0x6fa});
  const std::vector builds{build(1, "10.0.19041.1", protection),
                           build(2, "10.0.19041.1", {{"_EPROCESS.Protection", second}})};
  core::Findings findings;
  const auto rows = make_edrsandblast_rows(builds, findings);
  REQUIRE(rows.size() == 1);
  CHECK(column(rows[0], "_EPROCESS_Protection") == 0x87a);
  CHECK(findings.count("hook-row") == (second == 0x87a ? 0 : 1));
}

TEST_CASE("kphdyn: kernels with the same values share a set of fields") {
  auto arm = build(3, {}, object_table, pe::Machine::arm64);
  arm.images[0].sha256.reset();
  const std::vector builds{build(1, "10.0.19041.1", object_table),
                           build(2, "10.0.19041.2", {{"_EPROCESS.ObjectTable", 0x418}}), arm};
  core::Findings findings;
  const auto table = make_kphdyn_table(builds, findings);
  REQUIRE(table.rows.size() == 3);
  REQUIRE(table.fields.size() == 2);
  CHECK(table.fields[0].number == 1);
  CHECK(table.fields[0].values ==
        std::vector<std::pair<std::string, u16>>{{"EpObjectTable", u16{0x570}}});
  CHECK(table.fields[1].number == 2);
  CHECK(table.rows[0].arch == "amd64");
  CHECK(table.rows[0].version == "10.0.19041.1");
  CHECK(table.rows[0].file == "ntoskrnl.exe");
  CHECK(table.rows[0].hash == "00ff");
  CHECK(table.rows[0].time_date_stamp == 1);
  CHECK(table.rows[0].size_of_image == 0xa46000);
  CHECK(table.rows[0].fields == 1);
  CHECK(table.rows[1].fields == 2);
  CHECK(table.rows[2].arch == "arm64");
  CHECK(table.rows[2].version.empty());
  CHECK(table.rows[2].hash.empty());
  CHECK(table.rows[2].fields == 1);
  CHECK(findings.count("hook-value") == 1);
}

TEST_CASE("kphdyn: the file of a kernel with five levels of page tables is told by its PDB") {
  const auto pdb =
      GENERATE(table<const char*, const char*>({{"ntkrnlmp.pdb", "ntoskrnl.exe"},
                                                {"NTKRLA57.PDB", "ntkrla57.exe"},
                                                {"c:\\x\\ntkrla57.pdb", "ntkrla57.exe"}}));
  auto kernel = build(1, "10.0.26100.1", object_table);
  kernel.images[0].identity.pdb.emplace();
  kernel.images[0].identity.pdb->name = std::get<0>(pdb);
  core::Findings findings;
  const auto table = make_kphdyn_table({&kernel, 1}, findings);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].file == std::get<1>(pdb));
}

TEST_CASE("kphdyn: what its reader cannot use is left out with a reason") {
  struct Row {
    const char* why;
    HookTable build;
    const char* reason;
  };
  const auto row = GENERATE(values<Row>({
      {"another machine", build(1, "10.0.1.2", object_table, pe::Machine::i386), "amd64 and arm64"},
      {"0xffff means that a value is absent",
       build(1, "10.0.1.2", {{"_EPROCESS.ObjectTable", 0xffff}}), "nothing reliable"},
      {"more than 16 bits", build(1, "10.0.1.2", {{"_EPROCESS.ObjectTable", 0x10570}}),
       "nothing reliable"},
      {"no members", build(1, "10.0.1.2", {}), "without a member list"},
      {"no kernel", HookTable{}, "without a kernel"},
  }));
  CAPTURE(row.why);
  core::Findings findings;
  const auto table = make_kphdyn_table({&row.build, 1}, findings);
  CHECK(table.rows.empty());
  CHECK(table.fields.empty());
  REQUIRE(findings.count("hook-row") == 1);
  CHECK(findings.all().front().text.find(row.reason) != std::string::npos);
}

TEST_CASE("no builds make no rows and no findings") {
  core::Findings findings;
  CHECK(make_edrsandblast_rows({}, findings).empty());
  CHECK(make_kphdyn_table({}, findings).rows.empty());
  CHECK(findings.empty());
}
