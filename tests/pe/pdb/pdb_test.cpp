#include "tests/pe/pdb/pdb_test.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using core::Fault;
using fixtures::build_pdb;
using fixtures::PdbSpec;
using test::OpenedPdb;

TEST_CASE("the info and DBI streams have what was written") {
  PdbSpec spec;
  spec.info_age = 7;
  spec.age = 2;
  spec.machine = 0x14c;
  const OpenedPdb file{spec};
  REQUIRE(file.pdb);
  CHECK(file.codes().empty());
  const auto& info = file.pdb->info();
  CHECK(info.version == 20'000'404);
  CHECK(info.signature == 0x4ce7'ab88);
  CHECK(info.age == 7);
  REQUIRE(info.guid);
  CHECK(core::to_string(*info.guid) == "00112233-4455-6677-8899-aabbccddeeff");
  REQUIRE(file.pdb->dbi());
  CHECK(file.pdb->dbi()->age == 2);
  CHECK(file.pdb->dbi()->machine == 0x14c);
  CHECK(file.pdb->dbi()->flags == pe::dbi_stripped);
  CHECK(file.pdb->dbi()->publics == fixtures::pdb_publics_stream);
  CHECK_FALSE(file.pdb->dbi()->omap_from_source);
}

TEST_CASE("a PDB belongs to the image with its GUID and the age of its DBI stream") {
  struct Row {
    const char* why;
    u32 age;
    bool other_guid, old_format, expected;
  };
  const auto row = GENERATE(values<Row>({
      {"the same", 2, false, false, true},
      {"the age of the info stream", 7, false, false, false},
      {"another GUID", 2, true, false, false},
      {"no GUID", 2, false, true, false},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec image_spec;
  image_spec.code_view = fixtures::PeCodeView{};
  image_spec.code_view->age = row.age;
  image_spec.code_view->old_format = row.old_format;
  if (row.other_guid) image_spec.code_view->guid.bytes[15] ^= std::byte{1};
  test::Opened image{image_spec};
  PdbSpec spec;
  spec.info_age = 7;
  spec.age = 2;
  const OpenedPdb file{spec};
  REQUIRE(file.pdb);
  CHECK(file.pdb->matches(*image, image.findings) == row.expected);
}

TEST_CASE("no PDB belongs to an image without a reference") {
  test::Opened image{fixtures::PeSpec{}};
  const OpenedPdb file{PdbSpec{}};
  CHECK_FALSE(file.pdb->matches(*image, image.findings));
}

TEST_CASE("an old or damaged info stream is an error") {
  auto file = build_pdb();
  SECTION("an old version") {
    file.patch_stream<u32>(fixtures::pdb_info_stream, 0, 19'970'604);
    const OpenedPdb opened{file};
    REQUIRE_FALSE(opened.pdb);
    CHECK(opened.pdb.error().fault == Fault::unsupported);
    CHECK(opened.pdb.error().offset == file.offset_of(fixtures::pdb_info_stream, 0));
  }
  SECTION("cut anywhere") {
    for (u32 size = 0; size < 28; ++size) {
      file.patch<u32>(file.directory_offset(8), size);
      CHECK_FALSE(OpenedPdb{file}.pdb);
    }
  }
}

TEST_CASE("without a DBI stream the age is that of the info stream") {
  auto file = build_pdb();
  file.patch<u32>(file.directory_offset(4 + 4 * fixtures::pdb_dbi_stream), 0xffff'ffff);
  const OpenedPdb opened{file};
  REQUIRE(opened.pdb);
  CHECK_FALSE(opened.pdb->dbi());
  CHECK(opened.pdb->age() == 3);
  CHECK(opened.publics.symbols.empty());
  CHECK(opened.codes() == "pdb-publics");
}

TEST_CASE("a damaged DBI stream is a finding") {
  struct Row {
    const char* why;
    u64 position;
    u32 content;
    const char* symbols;
    const char* codes;
  };
  const auto row = GENERATE(values<Row>({
      {"an old header", 0, 1, "", "pdb-stream pdb-publics"},
      {"a negative size", 24, 0x8000'0000, "", "pdb-stream pdb-publics"},
      {"a substream of 2 GiB", 24, 0x7fff'ffff, "first@- second@-", "pdb-stream pdb-sections"},
      {"a debug header of 2 GiB", 48, 0x7fff'ffff, "first@- second@-", "pdb-stream pdb-sections"},
      {"no debug header", 48, 0, "first@- second@-", "pdb-sections"},
      {"a debug header that ends early", 48, 10, "first@- second@-", "pdb-sections"},
      {"section headers in no stream", 64 + 8 + 10, 0xffff'1234, "first@- second@-",
       "pdb-sections"},
      {"records in no stream", 20, 0x1234, "", "pdb-publics"},
      {"records that are absent", 20, 0xffff, "", "pdb-publics"},
      {"publics in no stream", 16, 0x1234, "first@0x1000 second@0x1020", "pdb-publics"},
  }));
  CAPTURE(row.why);
  auto file = build_pdb();
  file.patch_stream(fixtures::pdb_dbi_stream, row.position, row.content);
  const OpenedPdb opened{file};
  REQUIRE(opened.pdb);
  CHECK(opened.symbols() == row.symbols);
  CHECK(opened.codes() == row.codes);
}

TEST_CASE("a DBI stream cut anywhere is a finding") {
  auto file = build_pdb();
  for (u32 size = 1; size < 64 + 8 + 22; ++size) {
    CAPTURE(size);
    file.patch<u32>(file.directory_offset(4 + 4 * fixtures::pdb_dbi_stream), size);
    const OpenedPdb opened{file};
    REQUIRE(opened.pdb);
    CHECK(opened.findings.count("pdb-stream") == 1);
  }
}

TEST_CASE("a file cut anywhere gives an answer, and every error lies inside it") {
  PdbSpec spec;
  spec.scattered = GENERATE(false, true);
  const auto file = build_pdb(spec);
  u64 opened_count = 0;
  for (std::size_t cut = 0; cut < file.bytes.size(); ++cut) {
    const OpenedPdb opened{file.view().first(cut)};
    if (!opened.pdb) {
      if (opened.pdb.error().offset > cut) FAIL(cut);
      continue;
    }
    ++opened_count;
    if (opened.findings.count("pdb-truncated") != 1) FAIL(cut);
    for (const auto& finding : opened.findings.all())
      if (finding.first_offset.value_or(0) > cut) FAIL(cut << finding.code.view());
  }
  CHECK(opened_count > 0);
}

TEST_CASE("any byte of the structures may be another one") {
  const auto file = build_pdb();
  for (std::size_t at = 0; at < file.bytes.size(); ++at) {
    for (const auto content : {std::byte{0}, std::byte{0xff}, std::byte{0x80}}) {
      auto damaged = file;
      damaged.bytes[at] = content;
      const OpenedPdb opened{damaged};
      if (opened.publics.symbols.size() > 64) FAIL(at);
    }
  }
}

}  // namespace
}  // namespace coldtrace
