#include "coldtrace/pdb/c_definition.hpp"

#include "tests/pe/pdb/pdb_test.hpp"
#include "tests/pe/types/read_types.hpp"

namespace coldtrace {
namespace {

using fixtures::build_field_list;
using fixtures::build_structure;
using fixtures::Bytes;

Bytes structure(const std::string& name, u64 size, u32 fields = 0x1000, bool forward = false) {
  fixtures::PdbStructure made;
  made.name = name;
  made.fields = fields;
  made.forward = forward;
  made.size = size;
  return build_structure(made);
}

struct Types : test::ReadTypes {
  using ReadTypes::ReadTypes;

  std::optional<pe::CDefinition> find(u32 index) {
    pe::TypeBudget budget{table};
    return pe::find_c_definition(table, index, budget, findings);
  }

  std::string told(std::string_view code) const {
    for (const auto& finding : findings.all())
      if (finding.code.view() == code) return finding.text;
    return {};
  }
};

TEST_CASE("C can define what has bytes, and no more of them than compilers take") {
  constexpr u64 most64 = (u64{1} << 61) - 1;
  struct Row {
    const char* why;
    u16 machine;
    u64 size;
    bool forward;
    bool defined;
  };
  const auto row = GENERATE(values<Row>({
      {"one of four bytes", 0x8664, 4, false, true},
      {"only declared", 0x8664, 4, true, false},
      {"no bytes", 0x8664, 0, false, false},
      {"the largest of 64 bits", 0x8664, most64, false, true},
      {"one byte more", 0x8664, most64 + 1, false, false},
      {"the largest of 32 bits", 0x14c, 0x7fff'ffff, false, true},
      {"one byte more than that", 0x14c, 0x8000'0000, false, false},
  }));
  CAPTURE(row.why);
  Types types{
      {build_field_list({{"member", 0x75, 0}}), structure("one", row.size, 0x1000, row.forward)},
      row.machine};
  const auto definition = types.find(0x1001);
  CHECK(definition.has_value() == row.defined);
  if (definition) {
    CHECK(definition->aggregate.name == "one");
    REQUIRE(definition->members.placed.size() == 1);
    CHECK(definition->members.placed.front().name == "member");
  }
  const bool too_large = !row.defined && row.size > 4;
  CHECK(types.findings.count("pdb-type-range") == (too_large ? 1 : 0));
  if (too_large)
    CHECK(types.told("pdb-type-range")
              .ends_with("is larger than compilers accept, and is only "
                         "declared"));
  CHECK_FALSE(types.find(0x1000));
  CHECK_FALSE(types.find(0x1002));
}

TEST_CASE("members without a place in their type are told") {
  Types types{{
      structure("unseen", 0, 0, true),                                 // 0x1000
      build_field_list({{"within", 0x75, 4}, {"opaque", 0x1000, 0}}),  // 0x1001
      structure("hides", 8, 0x1001),                                   // 0x1002
      build_field_list({{"within", 0x75, 0}, {"beyond", 0x75, 6}}),    // 0x1003
      structure("short", 8, 0x1003),                                   // 0x1004
  }};
  const auto hides = types.find(0x1002);
  REQUIRE(hides);
  note_left_out(*hides, types.findings);
  CHECK(types.told("pdb-type-size") == "hides.opaque: its size is unknown, and it is left out");
  core::Findings findings;
  const auto reaches = types.find(0x1004);
  REQUIRE(reaches);
  note_left_out(*reaches, findings);
  REQUIRE(findings.count("pdb-type-range") == 1);
  CHECK(findings.all().front().text ==
        "short of 0x8 bytes has members that extend beyond it and are left out");
}

TEST_CASE("an empty base class may lie at the end of a class") {
  Types types{{
      structure("empty", 1, 0),                                              // 0x1000
      build_field_list({{"", 0x1000, 0, 0x1400}, {"", 0x1000, 1, 0x1400}}),  // 0x1001
      structure("two", 1, 0x1001),                                           // 0x1002
  }};
  const auto two = types.find(0x1002);
  REQUIRE(two);
  REQUIRE(two->members.placed.size() == 2);
  CHECK_FALSE(two->is_empty_base(two->members.placed[0]));
  CHECK(two->is_empty_base(two->members.placed[1]));
  core::Findings findings;
  note_left_out(*two, findings);
  CHECK(findings.empty());
}

}  // namespace
}  // namespace coldtrace
