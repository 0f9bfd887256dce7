#include "coldtrace/pdb/pdb_publics.hpp"

#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pdb;
using fixtures::pdb_publics_stream;
using fixtures::pdb_records_stream;
using fixtures::PdbSpec;
using test::OpenedPdb;

constexpr u64 first_record = 12;  // behind the constant that the builder puts in front

TEST_CASE("public symbols are listed by RVA, then by name") {
  PdbSpec spec;
  spec.sections = {{".text", 0x1000, 0x800}, {".data", 0x2000, 0x100}};
  spec.publics = {{"in_data", 2, 8, 0},        {"b", 1, 0x20},
                  {"absolute", 3, 0x12345, 0}, {"a", 1, 0x20},
                  {"?f@@YAXXZ", 1, 0, 3},      {"end", 1, 0x800, 0},
                  {"none", 0, 4, 0},           {"managed", 2, 0, 12, true}};
  const OpenedPdb file{spec};
  CHECK(file.codes().empty());
  CHECK(file.symbols() ==
        "?f@@YAXXZ@0x1000 a@0x1020 b@0x1020 end@0x1800 managed@0x2000 in_data@0x2008 none@- "
        "absolute@-");
  CHECK(file.publics.symbols[0].flags == (pe::public_code | pe::public_function));
  CHECK(file.publics.symbols[4].flags == (pe::public_managed | pe::public_msil));
  CHECK(file.publics.symbols[5].section == 2);
  CHECK(file.publics.symbols[5].offset == 8);
}

TEST_CASE("a file without public symbols has none") {
  PdbSpec spec;
  spec.publics.clear();
  const OpenedPdb file{spec};
  CHECK(file.codes().empty());
  CHECK(file.publics.symbols.empty());
}

TEST_CASE("many symbols in scattered blocks are all found") {
  PdbSpec spec;
  spec.publics.clear();
  spec.sections = {{".text", 0x1000, 0x10'0000}};
  std::string expected;
  for (u32 i = 0; i < 5000; ++i) {
    spec.publics.push_back({"symbol_" + std::to_string(i), 1, 8 * i, 2, i % 3 == 0});
    expected += (i ? " symbol_" : "symbol_") + std::to_string(i) + '@' +
                pe::to_string(pe::Rva{0x1000 + 8 * i});
  }
  spec.has_publics_stream = GENERATE(true, false);
  const OpenedPdb file{spec};
  CHECK(file.symbols() == expected);
  CHECK(file.codes() == (spec.has_publics_stream ? "" : "pdb-publics"));
}

TEST_CASE("addresses follow code that was moved after linking") {
  PdbSpec spec;
  spec.publics = {{"stays", 1, 0}, {"moved", 1, 0x24}, {"removed", 1, 0x40}, {"back", 1, 0x60}};
  spec.original_sections = {{".text", 0x1000, 0x1000}};
  spec.moves = {{0x1000, 0x1000}, {0x1020, 0x5000}, {0x1040, 0}, {0x1060, 0x1010}};
  const OpenedPdb file{spec};
  CHECK(file.codes().empty());
  CHECK(file.symbols() == "stays@0x1000 back@0x1010 moved@0x5004 removed@-");
}

TEST_CASE("addresses before the first move and beyond 32 bits are none") {
  PdbSpec spec;
  spec.original_sections = {{".text", 0x1000, 0x1000}};
  spec.moves = {{0x1010, 0xffff'fff0}};
  const OpenedPdb file{spec};
  CHECK(file.symbols() == "first@- second@-");
}

TEST_CASE("moves without order are a finding, and without entries there are no addresses") {
  PdbSpec spec;
  spec.original_sections = {{".text", 0x1000, 0x1000}};
  SECTION("no order") {
    spec.moves = {{0x1020, 0x5000}, {0x1000, 0x3000}};
    const OpenedPdb file{spec};
    CHECK(file.codes() == "pdb-omap");
    CHECK(file.symbols() == "first@0x3000 second@0x5000");
  }
  SECTION("no entries") {
    const OpenedPdb file{spec};
    CHECK(file.codes() == "pdb-omap");
    CHECK(file.symbols() == "first@- second@-");
  }
}

TEST_CASE("a damaged record is counted, and the others are read") {
  struct Row {
    const char* why;
    u64 position;  // in the record of "first"
    u32 content;
    const char* symbols;
    u64 damaged;
  };
  // A record: u16 length, u16 kind, u32 flags, u32 offset, u16 section, name "first\0".
  const auto row = GENERATE(values<Row>({
      {"another kind", 0, 0x110c'0012, "second@0x1020", 1},
      {"no length", 0, 0x110e'0000, "second@0x1020", 1},
      {"a length without a kind", 0, 0x110e'0001, "second@0x1020", 1},
      {"a length without a name", 0, 0x110e'000c, "second@0x1020", 1},
      {"a length inside the name", 0, 0x110e'000f, "second@0x1020", 1},
      {"a length beyond the stream", 0, 0x110e'ffff, "second@0x1020", 1},
      {"a length into the next record", 0, 0x110e'0018, "first@0x1000", 1},
      {"an old name that is longer", 0, 0x1009'0012, "second@0x1020", 1},
  }));
  CAPTURE(row.why);
  auto file = build_pdb();
  file.patch_stream(pdb_records_stream, first_record + row.position, row.content);
  const OpenedPdb opened{file};
  CHECK(opened.symbols() == row.symbols);
  CHECK(opened.findings.count("pdb-public") == row.damaged);
  CHECK(opened.codes() == "pdb-public");
}

TEST_CASE("a name without an end is not a symbol, and no read leaves its record") {
  PdbSpec spec;
  spec.publics = {{"first"}};
  auto file = build_pdb(spec);
  file.patch_stream<u32>(pdb_records_stream, first_record + 14, 0x41414141);
  file.patch_stream<u16>(pdb_records_stream, first_record + 18, 0x4141);
  const OpenedPdb opened{file};
  CHECK(opened.publics.symbols.empty());
  CHECK(opened.codes() == "pdb-public");
}

TEST_CASE("symbols outside their section have no address") {
  PdbSpec spec;
  spec.publics = {{"behind", 1, 0x1001}, {"far", 1, 0xffff'ffff}, {"nowhere", 7, 0}, {"good"}};
  const OpenedPdb file{spec};
  CHECK(file.symbols() == "good@0x1000 behind@- far@- nowhere@-");
  CHECK(file.findings.count("pdb-address") == 3);
}

TEST_CASE("a section at the end of all addresses does not wrap") {
  PdbSpec spec;
  spec.sections = {{".text", 0xffff'fff0, 0x1000}};
  const OpenedPdb file{spec};
  CHECK(file.symbols() == "first@0xfffffff0 second@-");
}

TEST_CASE("a damaged address map makes all records to be looked at") {
  struct Row {
    const char* why;
    u64 position;
    u32 content;
  };
  const auto row = GENERATE(values<Row>({
      {"a hash table beyond the stream", 0, 0x7fff'ffff},
      {"a hash table of all numbers", 0, 0xffff'ffff},
      {"more entries than records", 4, 0x1000},
      {"an absurd count", 4, 0xffff'fffc},
      {"a size that is not a number of entries", 4, 7},
  }));
  CAPTURE(row.why);
  auto file = build_pdb();
  file.patch_stream(pdb_publics_stream, row.position, row.content);
  const OpenedPdb opened{file};
  CHECK(opened.symbols() == "first@0x1000 second@0x1020");
  CHECK(opened.codes() == "pdb-publics");
}

TEST_CASE("entries of the address map that lead nowhere, or twice to one record, are counted") {
  auto file = build_pdb();
  constexpr u64 map = 28 + 16 + 2 * 8 + 129 * 4 + 4;  // behind the hash table
  const u32 entry = GENERATE(0xffff'ffffU, 12U, 14U, 0U);
  CAPTURE(entry);
  file.patch_stream<u32>(pdb_publics_stream, map + 4, entry);
  const OpenedPdb opened{file};
  CHECK(opened.symbols() == "first@0x1000");
  CHECK(opened.findings.count("pdb-public") == 1);
}

TEST_CASE("section headers of an odd size are read as far as they go") {
  auto file = build_pdb();
  file.patch<u32>(file.directory_offset(4 + 4 * fixtures::pdb_sections_stream), 43);
  const OpenedPdb opened{file};
  CHECK(opened.symbols() == "first@0x1000 second@0x1020");
  CHECK(opened.codes() == "pdb-sections");
}

}  // namespace
}  // namespace coldtrace
