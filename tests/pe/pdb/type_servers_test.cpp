#include "pe/pdb/type_servers.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;

void add_server(ByteWriter& map, u32 signature, u32 age, std::string_view path) {
  map.write_zeros(8).write_u32(signature).write_u32(age).write_text(path).write_u8(0);
  map.write_text("main.obj").write_u8(0).align(4);
}

// Source: NewDBIHdr and TSM of microsoft-pdb, PDB/dbi/dbi.h. A PDB of signature 9 that has nothing
// but the map.
fixtures::MsfFile file_with(const ByteWriter& map) {
  ByteWriter info;
  info.write_u32(20'000'404).write_u32(9).write_u32(1).write_zeros(16);
  ByteWriter dbi;
  dbi.write_u32(0xffff'ffff).write_u32(19'990'903).write_zeros(16).write_zeros(16);
  dbi.write_u32(map.size()).write_zeros(12).write_u16(0).write_u16(0x14c).write_u32(0);
  dbi.write_bytes(map.view());
  return fixtures::build_msf(512, {{}, info.bytes(), {}, dbi.bytes()}, true);
}

TEST_CASE("files with types of modules are listed once, without the PDB itself") {
  ByteWriter map;
  add_server(map, 5, 2, "c:\\a\\vc60.pdb");
  add_server(map, 9, 1, "c:\\a\\own.pdb");
  add_server(map, 5, 3, "c:\\a\\vc60.pdb");
  add_server(map, 6, 4, "c:\\a\\vc60.pdb");
  add_server(map, 5, 7, "c:\\vc60.pdb");
  const auto file = file_with(map);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file.view(), findings);
  REQUIRE(pdb);
  CHECK(pe::read_type_servers(*pdb, findings) ==
        std::vector<pe::TypeServer>{
            {5, 2, "c:\\a\\vc60.pdb"}, {6, 4, "c:\\a\\vc60.pdb"}, {5, 7, "c:\\vc60.pdb"}});
  CHECK(findings.empty());
}

TEST_CASE("a text names eight files with types and counts the others") {
  ByteWriter map;
  const u32 servers = GENERATE(8U, 10U);
  for (u32 i = 0; i < servers; ++i) add_server(map, 0x10 + i, i, "v.pdb");
  const auto file = file_with(map);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file.view(), findings);
  REQUIRE(pdb);
  std::string expected = "v.pdb (signature 0x00000010, age 0)";
  for (u32 i = 1; i < 8; ++i)
    expected += fmt::format(", v.pdb (signature 0x0000001{}, age {})", i, i);
  if (servers == 10) expected += " and 2 more";
  CHECK(pe::describe_type_servers(*pdb, findings) == expected);
}

TEST_CASE("a map of files with types that ends inside an entry has those before") {
  ByteWriter map;
  add_server(map, 5, 2, "c:\\a\\vc60.pdb");
  map.write_zeros(8).write_u32(6).write_u32(1).write_text("c:\\b");
  const auto file = file_with(map);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file.view(), findings);
  REQUIRE(pdb);
  CHECK(pe::read_type_servers(*pdb, findings).size() == 1);
  CHECK(findings.count("pdb-stream") == 1);
}

}  // namespace
}  // namespace coldtrace
