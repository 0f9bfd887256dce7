#include <catch2/catch.hpp>
#include <coldtrace/hook_table.h>

#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"
#include "fixtures/builders/hook_tables.hpp"
#include "hook_table_test.hpp"
#include "reader_1_0/reader.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

std::vector<MemberValue> members() {
  MemberValue bits{"Shift", MemberKind::bit, false, "_S.f", 20, false, 8, 20, 44};
  bits.from_pdb = true;
  bits.confidence = Confidence::high;
  bits.evidence = {"the PDB's types have it here", "and a second sentence"};
  MemberValue missing{"Missing", MemberKind::global, true, "Missing"};
  MemberValue constant{"Below", MemberKind::constant, false, "_E.Below", ~u64{0}, true};
  constant.from_pdb = constant.from_code = true;
  MemberValue whole{"Whole", MemberKind::size, false, "_E", 4};
  whole.enumeration = true;
  return {bits, missing, constant, whole};
}

std::vector<HookTable> tables() {
  auto made = fixtures::make_hook_tables(2, 3);
  for (auto& table : made) table.trace_points.clear();
  made[0].members = members();
  made[2].members = {members().back()};
  return made;
}

TEST_CASE("members are in a table of version 1.2, which encodes as it decodes") {
  const auto bytes = encode(tables());
  CHECK(u32_at(bytes, 8) == 0x0002'0001);
  CHECK(u32_at(bytes, entry_of(bytes, "BLDS") + 12) == 88);
  CHECK(u32_at(bytes, entry_of(bytes, "MEMB") + 4) == 0);  // may be passed over
  CHECK(u32_at(bytes, entry_of(bytes, "MEMB") + 12) == 32);
  const auto decoded = decode_hook_tables(bytes);
  REQUIRE(decoded);
  CHECK(encode(*decoded) == bytes);
  std::size_t found = 0;
  for (const auto& table : tables())
    for (const auto& other : *decoded)
      if (pe::same_headers(table.images.front().identity, other.images.front().identity)) {
        CHECK(compare_all(table, other).empty());
        found += other.members.size();
      }
  CHECK(found == 5);
}

TEST_CASE("readers of version 1.0 pass over members, with and without evidence") {
  for (const bool evidence : {true, false}) {
    const auto bytes = encode(tables(), {.evidence = evidence});
    CHECK(test::open_with_reader_1_0(bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
  }
  auto with_points = tables();
  with_points[1].trace_points = {{.requested = "NtClose", .rva = pe::Rva{0x1000}}};
  const auto bytes = encode(with_points);
  CHECK(test::open_with_reader_1_0(bytes.data(), bytes.size()) == COLDTRACE_HOOK_UNSUPPORTED);
  const auto decoded = decode_hook_tables(bytes);
  REQUIRE(decoded);
  CHECK(encode(*decoded) == bytes);
}

TEST_CASE("a driver finds a member by its name") {
  auto made = tables();
  made.resize(1);
  const auto bytes = encode(made);
  coldtrace_hook_table table;
  REQUIRE(coldtrace_hook_open(&table, bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
  coldtrace_hook_build build;
  REQUIRE(coldtrace_hook_get_build(&table, 0, &build) == COLDTRACE_HOOK_OK);
  REQUIRE(build.members.count == 4);
  coldtrace_hook_member member;
  REQUIRE(coldtrace_hook_find_member(&table, &build, "Shift", &member) == COLDTRACE_HOOK_OK);
  CHECK(member.kind == COLDTRACE_HOOK_MEMBER_BIT);
  CHECK(member.confidence == COLDTRACE_HOOK_HIGH);
  CHECK(member.value == 20);
  CHECK(member.size == 8);
  CHECK(member.bit_position == 20);
  CHECK(member.bit_length == 44);
  CHECK(member.flags == (COLDTRACE_HOOK_MEMBER_FOUND | COLDTRACE_HOOK_MEMBER_FROM_PDB));
  CHECK(std::string_view{member.expression} == "_S.f");
  CHECK(std::string_view{member.evidence} == "the PDB's types have it here\nand a second sentence");
  CHECK(coldtrace_hook_find_member(&table, &build, "Missing", &member) == COLDTRACE_HOOK_NOT_FOUND);
  CHECK(coldtrace_hook_find_member(&table, &build, "Shif", &member) == COLDTRACE_HOOK_NOT_FOUND);
  REQUIRE(coldtrace_hook_find_member(&table, &build, "Below", &member) == COLDTRACE_HOOK_OK);
  CHECK(member.value == ~coldtrace_u64{0});
  CHECK(member.size == COLDTRACE_HOOK_ABSENT);
  CHECK(member.bit_position == COLDTRACE_HOOK_NO_BITS);
  CHECK((member.flags & COLDTRACE_HOOK_MEMBER_NEGATIVE) != 0);
  REQUIRE(coldtrace_hook_find_member(&table, &build, "Whole", &member) == COLDTRACE_HOOK_OK);
  CHECK(member.flags == (COLDTRACE_HOOK_MEMBER_FOUND | COLDTRACE_HOOK_MEMBER_ENUMERATION));
  CHECK(coldtrace_hook_get_member(&table, &build, 4, &member) == COLDTRACE_HOOK_NOT_FOUND);
}

TEST_CASE("members whose section or range is not there are none") {
  auto made = tables();
  made.resize(1);
  auto bytes = encode(made);
  coldtrace_hook_table table;
  coldtrace_hook_build build;
  coldtrace_hook_member member;
  const auto count = u32_at(bytes, entry_of(bytes, "BLDS") + 8) + 84;
  bytes[count] = std::byte{9};
  mend_crc(bytes);
  REQUIRE(coldtrace_hook_open(&table, bytes.data(), bytes.size()) == COLDTRACE_HOOK_OK);
  REQUIRE(coldtrace_hook_get_build(&table, 0, &build) == COLDTRACE_HOOK_OK);
  CHECK(coldtrace_hook_get_member(&table, &build, 0, &member) == COLDTRACE_HOOK_DAMAGED);
  CHECK(coldtrace_hook_find_member(&table, &build, "Shift", &member) == COLDTRACE_HOOK_DAMAGED);
  CHECK_FALSE(decode_hook_tables(bytes));
}

TEST_CASE("a build has no more members than lists may ask for") {
  HookTable table;
  table.images = fixtures::make_hook_table(9).images;
  table.members.resize(most_members);
  const auto full = encode({&table, 1});
  CHECK(decode_hook_tables(full));
  table.members.emplace_back();
  CHECK_FALSE(encode_hook_tables({&table, 1}));
}

TEST_CASE("each defect of a member is an error") {
  auto made = tables();
  made.resize(1);
  const auto sound = encode(made);
  const auto record = u32_at(sound, entry_of(sound, "MEMB") + 8);
  for (const auto& [at, value] :
       {std::pair{0U, 6}, {1U, 3}, {11U, 0x7f}, {15U, 0x7f}, {31U, 0x7f}}) {
    auto bent = sound;
    bent[record + at] = static_cast<std::byte>(value);
    mend_crc(bent);
    CAPTURE(at);
    CHECK_FALSE(decode_hook_tables(bent));
  }
}

}  // namespace
}  // namespace coldtrace
