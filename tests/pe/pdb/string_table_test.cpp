#include "coldtrace/pdb/string_table.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using pe::find_named_stream;
using pe::StringTable;

constexpr u32 names_stream = 5;

// Names of streams from Capacity on, as LLVM's "The PDB Info Stream" has them: in a hash table of
// 40 places, of which 2, 33 and 39 are taken, and place 1 was. The first name has no text.
ByteWriter stream_names(u32 capacity = 40) {
  ByteWriter out;
  out.write_u32(20'000'404).write_u32(1).write_u32(1).write_zeros(16);
  out.write_u32(18).write_text("/LinkInfo").write_u8(0).write_text("/names").write_zeros(2);
  out.write_u32(3).write_u32(capacity);
  out.write_u32(2).write_u32(1U << 2).write_u32(1U << 1 | 1U << 7).write_u32(1).write_u32(2);
  out.write_u32(18).write_u32(3).write_u32(10).write_u32(names_stream).write_u32(0).write_u32(4);
  return out;
}

// Source: microsoft-pdb, PDB/misc/nmt.h.
ByteWriter string_table() {
  ByteWriter out;
  out.write_u32(0xeffe'effe).write_u32(1).write_u32(14);
  out.write_u8(0).write_text("first").write_u8(0).write_text("second").write_u8(0);
  return out.write_zeros(8);
}

struct OpenedNames {
  explicit OpenedNames(const ByteWriter& names, const ByteWriter& table = string_table())
      : file{fixtures::build_msf(512, {{}, names.bytes(), {}, {}, {}, table.bytes()}, true)},
        pdb{pe::Pdb::open(file.view(), opening)} {}

  fixtures::MsfFile file;
  core::Findings opening;
  core::Result<pe::Pdb> pdb;
  core::Findings findings;
};

TEST_CASE("streams are found by their names") {
  const OpenedNames opened{stream_names()};
  REQUIRE(opened.pdb);
  CHECK(find_named_stream(*opened.pdb, "/names") == names_stream);
  CHECK(find_named_stream(*opened.pdb, "/LinkInfo") == 4U);
  CHECK_FALSE(find_named_stream(*opened.pdb, "/name"));
  CHECK_FALSE(find_named_stream(*opened.pdb, ""));
  // As many places as the table has.
  const OpenedNames shorter{stream_names(39)};
  REQUIRE(shorter.pdb);
  CHECK(find_named_stream(*shorter.pdb, "/names") == names_stream);
  CHECK_FALSE(find_named_stream(*shorter.pdb, "/LinkInfo"));
}

TEST_CASE("texts are found by their places") {
  OpenedNames opened{stream_names()};
  REQUIRE(opened.pdb);
  const auto table = StringTable::read(*opened.pdb, opened.findings);
  CHECK(opened.findings.empty());
  CHECK(table.find(0) == "");
  CHECK(table.find(1) == "first");
  CHECK(table.find(3) == "rst");
  CHECK(table.find(7) == "second");
  CHECK(table.find(13) == "");
  CHECK_FALSE(table.find(14));
}

TEST_CASE("a damaged list of names or texts has none") {
  struct Row {
    const char* why;
    u32 stream;
    u64 position;
    u32 content;
    std::size_t findings;
  };
  const auto row = GENERATE(values<Row>({
      {"names of 4 GiB", fixtures::pdb_info_stream, 28, 0xffff'ffff, 0},
      {"bits of 16 GiB", fixtures::pdb_info_stream, 58, 0xffff'ffff, 0},
      {"a stream that is not there", fixtures::pdb_info_stream, 90, 99, 1},
      {"another signature", names_stream, 0, 0xeffe'efff, 1},
      {"texts up to the end of the stream", names_stream, 8, 22, 0},
      {"texts behind it", names_stream, 8, 23, 1},
  }));
  CAPTURE(row.why);
  OpenedNames opened{stream_names()};
  opened.file.patch_stream(row.stream, row.position, row.content);
  opened.pdb = pe::Pdb::open(opened.file.view(), opened.opening);
  REQUIRE(opened.pdb);
  const auto table = StringTable::read(*opened.pdb, opened.findings);
  CHECK(opened.findings.count("pdb-stream") == row.findings);
  CHECK(table.find(1).has_value() == (row.content == 22));
}

}  // namespace
}  // namespace coldtrace
