#include "coldtrace/pe/debug_directory.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pe;
using test::Opened;

TEST_CASE("the symbol file is found by RSDS and by NB10") {
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  spec.code_view->age = 3;
  spec.code_view->old_format = GENERATE(false, true);
  Opened image{spec};
  const auto pdb = pe::find_pdb_reference(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(pdb);
  CHECK(pdb->name == "fixture.pdb");
  CHECK(pdb->age == 3);
  CHECK(pdb->guid.has_value() == !spec.code_view->old_format);
  CHECK(pdb->time_date_stamp.has_value() == spec.code_view->old_format);
  if (pdb->guid) CHECK(core::to_string(*pdb->guid) == "00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE("in memory the record is found by its RVA") {
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  auto built = build_pe(spec);
  built.patch<u32>(built.directories[6].offset + 24, 0x10);  // PointerToRawData
  const auto loaded = fixtures::as_loaded(built);
  Opened image{loaded, pe::Layout::memory};
  const auto pdb = pe::find_pdb_reference(*image, image.findings);
  REQUIRE(pdb);
  CHECK(pdb->name == "fixture.pdb");
}

TEST_CASE("data without a file offset is found by its RVA, and its place is one of the file") {
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  auto built = build_pe(spec);
  const auto at = built.directories[6].offset;
  const auto offset = *core::load<u32>(built.bytes, at + 24);
  built.patch<u32>(at + 24, 0);  // PointerToRawData
  Opened image{built};
  const auto entries = pe::read_debug_directory(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].offset == offset);
  CHECK(entries[0].stored == *core::load<u32>(built.bytes, at + 16));
  CHECK(pe::find_pdb_reference(*image, image.findings));
}

TEST_CASE("damaged debug data is a finding and no symbol file") {
  struct Row {
    const char* why;
    u32 field;
    u32 content;
    const char* code;
  };
  // Fields of the directory: 16 SizeOfData, 24 PointerToRawData; 28 is the record's signature.
  const auto row = GENERATE(values<Row>({
      {"data behind the end", 24, 0x7000'0000, "debug-range"},
      {"no room for the record", 16, 10, "codeview"},
      {"no data", 16, 0, "codeview"},
      {"another signature", 28, 0x12345678, "codeview"},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  auto built = build_pe(spec);
  built.patch<u32>(built.directories[6].offset + row.field, row.content);
  Opened image{built};
  CHECK_FALSE(pe::find_pdb_reference(*image, image.findings));
  CHECK(image.findings.count(row.code) == 1);
}

TEST_CASE("a PDB name without an end stops with its record") {
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  auto built = build_pe(spec);
  built.patch<u32>(built.directories[6].offset + 16, 24 + 7);
  Opened image{built};
  const auto pdb = pe::find_pdb_reference(*image, image.findings);
  REQUIRE(pdb);
  CHECK(pdb->name == "fixture");
}

TEST_CASE("a record cut anywhere before its name is a finding") {
  fixtures::PeSpec spec;
  spec.code_view = fixtures::PeCodeView{};
  auto built = build_pe(spec);
  for (u32 cut = 0; cut < 24; ++cut) {
    built.patch<u32>(built.directories[6].offset + 16, cut);
    Opened image{built};
    CHECK_FALSE(pe::find_pdb_reference(*image, image.findings));
    CHECK(image.findings.count("codeview") == 1);
  }
}

TEST_CASE("one build of a PDB has one GUID and age, or of NB10 one TimeDateStamp and age, table") {
  const auto guid = core::parse_guid("00112233-4455-6677-8899-aabbccddeeff");
  const auto other = core::parse_guid("00112233-4455-6677-8899-aabbccddeefe");
  struct Row {
    const char* why;
    pe::PdbReference a, b;
    bool same;
  };
  const auto row = GENERATE_REF(values<Row>({
      {"files are renamed", {"a.pdb", guid, {}, 1}, {"b.pdb", guid, {}, 1}, true},
      {"linked once more", {"a.pdb", guid, {}, 1}, {"a.pdb", guid, {}, 2}, false},
      {"another GUID", {"a.pdb", guid, {}, 1}, {"a.pdb", other, {}, 1}, false},
      {"NB10", {"a.pdb", {}, 7U, 1}, {"a.pdb", {}, 7U, 1}, true},
      {"another stamp", {"a.pdb", {}, 7U, 1}, {"a.pdb", {}, 8U, 1}, false},
      {"another age", {"a.pdb", {}, 7U, 1}, {"a.pdb", {}, 7U, 2}, false},
      {"NB10 and RSDS", {"a.pdb", {}, 7U, 1}, {"a.pdb", guid, {}, 1}, false},
      {"nothing is known", {"a.pdb", {}, {}, 1}, {"a.pdb", {}, {}, 1}, false},
  }));
  INFO(row.why);
  CHECK(same_pdb(row.a, row.b) == row.same);
  CHECK(same_pdb(row.b, row.a) == row.same);
  CHECK(row.a.names(row.b.guid, row.b.time_date_stamp, row.b.age) == row.same);
}

}  // namespace
}  // namespace coldtrace
