#include "coldtrace/pdb/pdb_types.hpp"

#include <algorithm>

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_field_list;
using fixtures::build_structure;
using fixtures::Bytes;

struct Types {
  explicit Types(std::vector<Bytes> records) {
    fixtures::PdbSpec spec;
    spec.types = std::move(records);
    file = build_pdb(spec).bytes;
    const auto pdb = pe::Pdb::open(file, findings);
    REQUIRE(pdb);
    auto read = pe::PdbTypes::read(*pdb, findings);
    REQUIRE(read);
    types = std::move(*read);
  }

  std::optional<u32> offset_of(std::string_view structure, std::string_view path) {
    return types.offset_of(structure, path, findings);
  }

  Bytes file;
  core::Findings findings;
  pe::PdbTypes types;
};

TEST_CASE("structures of every form have members") {
  const u16 kind = GENERATE(u16{0x1504}, u16{0x1505}, u16{0x1506}, u16{0x1519}, u16{0x1608},
                            u16{0x1609}, u16{0x160b}, u16{0x1004}, u16{0x1005}, u16{0x1006});
  const bool large = GENERATE(false, true);
  const std::string unique = GENERATE("", ".?AUouter@@");
  CAPTURE(kind, large, unique);
  const u64 offset = large ? 0x12345 : 8;
  const u16 member = kind < 0x1500 ? 0x1405 : 0x150d;
  Types types{{
      build_field_list({{"inner_a", 0x75, 4, member}}),
      build_structure({"inner", "", 0x1000, kind}),
      build_field_list({{"a", 0x75, 0, member}, {"b", 0x1001, offset, member}}),
      build_structure({"outer", unique, 0x1002, kind, false, large ? 0x23456U : 0x20U, 2}),
  }};
  CHECK(types.offset_of("outer", "a") == 0U);
  CHECK(types.offset_of("outer", "b.inner_a") == offset + 4);
  CHECK_FALSE(types.offset_of("outer", "c"));
  CHECK_FALSE(types.offset_of("another", "a"));
  CHECK(types.findings.empty());
}

TEST_CASE("indexes of types that leave 32 bits are refused") {
  fixtures::PdbSpec spec;
  spec.types = {build_field_list({{"a", 0x75, 4}}), build_structure({"outer", "", 0x1000, 0x1505})};
  auto file = build_pdb(spec).bytes;
  fixtures::ByteWriter header;  // version, size of the header, TypeIndexBegin
  header.write_u32(20'040'203).write_u32(56).write_u32(0x1000);
  const auto bytes = header.bytes();
  unsigned count = 0;  // of streams of types, and of ids
  for (auto at = file.begin();; ++at, ++count) {
    at = std::search(at, file.end(), bytes.begin(), bytes.end());
    if (at == file.end()) break;
    std::fill_n(at + 8, 4, std::byte{0xff});
  }
  CHECK(count > 0);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file, findings);
  REQUIRE(pdb);
  const auto types = pe::PdbTypes::read(*pdb, findings);
  REQUIRE_FALSE(types);
  CHECK(types.error().field.view() == "TypeIndexBegin");
}

TEST_CASE("a record of an unknown kind is a finding only where it is needed") {
  fixtures::ByteWriter strange;  // LF_UNION2, whose layout nobody has seen
  strange.write_u16(0x160a).write_zeros(30);
  Types types{{
      build_field_list({{"a", 0x75, 4}, {"b", 0x1001, 8}}),
      strange.bytes(),
      build_structure({"known", "", 0x1000}),
  }};
  CHECK(types.offset_of("known", "a") == 4U);
  CHECK(types.offset_of("known", "b") == 8U);
  CHECK(types.findings.empty());
  SECTION("the type of a member") {
    CHECK_FALSE(types.offset_of("known", "b.c"));
  }
  SECTION("what is looked for may be in it") {
    CHECK_FALSE(types.offset_of("unknown", "c"));
  }
  CHECK(types.findings.count("pdb-type-unknown") == 1);
}

TEST_CASE("an unknown member is a finding where the one that is looked for may lie behind") {
  Types types{{
      build_field_list({{"a", 0x75, 4}, {"strange", 0x75, 8, 0x15ff}, {"b", 0x75, 12}}),
      build_structure({"structure", "", 0x1000}),
  }};
  CHECK(types.offset_of("structure", "a") == 4U);
  CHECK(types.findings.empty());
  CHECK_FALSE(types.offset_of("structure", "b"));
  CHECK(types.findings.count("pdb-type-unknown") == 1);
}

TEST_CASE("a damaged structure is a finding where it is needed") {
  auto cut = build_structure({"structure", "", 0x1000});
  cut.resize(20);
  Types types{{build_field_list({{"a"}}), cut}};
  CHECK_FALSE(types.offset_of("structure", "a"));
  CHECK(types.findings.count("pdb-type-unknown") == 1);
}

TEST_CASE("a declaration stands for the definition with its unique name") {
  // One name, in C and in C++, as real drivers have it.
  Types types{{
      build_field_list({{"state", 0x75, 4}}),
      build_structure({"header", "Uheader@@", 0x1000, 0x1505, false, 8}),
      build_field_list({{"state", 0x75, 8}, {"more", 0x75, 16}}),
      build_structure({"header", ".?AUheader@@", 0x1002, 0x1505, false, 24, 2}),
      build_structure({"header", ".?AUheader@@", 0, 0x1505, true}),
      build_field_list({{"head", 0x1004, 16}}),
      build_structure({"semaphore", "", 0x1005, 0x1505, false, 40}),
  }};
  CHECK(types.offset_of("semaphore", "head.state") == 24U);
  CHECK(types.findings.empty());
  CHECK(types.offset_of("header", "state") == 4U);
  CHECK(types.findings.count("pdb-type-ambiguous") == 1);
}

TEST_CASE("members lie behind modifiers, in base classes and in continued lists") {
  fixtures::ByteWriter constant;
  constant.write_u16(0x1001).write_u32(0x1001).write_u16(3).write_u16(0xf1f2);
  Types types{{
      build_field_list({{"value", 0x75, 4}}),
      build_structure({"inner", "", 0x1000}),
      constant.bytes(),
      build_field_list({{"last", 0x1002, 32}}),
      build_field_list({{"", 0x1001, 8, 0x1400},
                        {"count", 0x75, 0, 0x150e},
                        {"first", 0x1002, 16},
                        {"", 0x1003, 0, 0x1404}}),
      build_structure({"outer", "", 0x1004}),
  }};
  CHECK(types.offset_of("outer", "first.value") == 20U);
  CHECK(types.offset_of("outer", "last.value") == 36U);
  CHECK(types.offset_of("outer", "value") == 12U);  // of the base
  CHECK_FALSE(types.offset_of("outer", "count"));   // static
  CHECK(types.findings.empty());
}

TEST_CASE("types that go in circles end") {
  fixtures::ByteWriter itself;
  itself.write_u16(0x1001).write_u32(0x1000).write_u16(1).write_u16(0xf1f2);
  std::vector<fixtures::PdbMember> bases(200, {"", 0x1003, 0, 0x1400});
  Types types{{
      itself.bytes(),
      build_field_list({{"", 0x1001, 0, 0x1404}, {"", 0x1001, 0, 0x1404}}),
      build_field_list(bases),
      build_structure({"loop", "", 0x1002}),
      build_field_list({{"m", 0x1000, 0}}),
      build_structure({"modified", "", 0x1004}),
      build_structure({"continued", "", 0x1001}),
  }};
  CHECK_FALSE(types.offset_of("loop", "a"));
  CHECK_FALSE(types.offset_of("modified", "m.a"));
  CHECK_FALSE(types.offset_of("continued", "a"));
}

TEST_CASE("types with indexes of 16 bits are refused") {
  fixtures::PdbSpec spec;
  auto file = build_pdb(spec);
  file.patch_stream<u32>(2, 0, 19'961'031);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file.bytes, findings);
  REQUIRE(pdb);
  CHECK_FALSE(pe::PdbTypes::read(*pdb, findings));
}

}  // namespace
}  // namespace coldtrace
