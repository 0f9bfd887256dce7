#include "coldtrace/pdb/msf.hpp"

#include "fixtures/builders/pdb_file.hpp"
#include "tests/pe/pdb/pdb_test.hpp"

namespace coldtrace {
namespace {

using core::Fault;
using fixtures::Bytes;
using fixtures::MsfFile;

Bytes numbered(std::size_t size, unsigned start) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((start + i * 7 + i / 251) & 0xff);
  return bytes;
}

bool same(core::ByteView a, core::ByteView b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

const std::vector<Bytes> streams{
    {}, numbered(1, 9), numbered(512, 1), numbered(513, 2), numbered(5000, 3)};

TEST_CASE("streams have their bytes, in whatever order their blocks lie") {
  const u32 block_size = GENERATE(512U, 1024U, 2048U, 4096U, 8192U, 32768U);
  const bool scattered = GENERATE(false, true);
  CAPTURE(block_size, scattered);
  const auto file = fixtures::build_msf(block_size, streams, scattered);
  const test::ExactBytes bytes{file.view()};
  core::Findings findings;
  const auto msf = pe::Msf::open(bytes.view(), findings);
  REQUIRE(msf);
  CHECK(findings.empty());
  CHECK(msf->block_size() == block_size);
  REQUIRE(msf->stream_count() == streams.size());
  for (u32 i = 0; i < streams.size(); ++i) {
    CAPTURE(i);
    CHECK(msf->stream_size(i) == streams[i].size());
    const auto stream = msf->read(i, "stream");
    REQUIRE(stream);
    CHECK(same(stream->view(), streams[i]));
  }
  for (u64 position = 0; position < 5000; position += 499) {
    const u64 length = std::min<u64>(600, 5000 - position);
    const auto part = msf->read(4, position, length, "stream");
    REQUIRE(part);
    CHECK(same(part->view(), core::ByteView{streams[4]}.subspan(position, length)));
    CHECK(msf->offset_of(4, position) == file.offset_of(4, position));
  }
  CHECK_FALSE(msf->offset_of(4, 5000));
}

TEST_CASE("a block map of several blocks is followed") {
  const std::vector<Bytes> large{{}, numbered(9'000'000, 5)};
  const auto file = fixtures::build_msf(512, large, true);
  REQUIRE(file.block_map_blocks.size() == 2);
  core::Findings findings;
  const auto msf = pe::Msf::open(file.view(), findings);
  REQUIRE(msf);
  const auto stream = msf->read(1, "stream");
  REQUIRE(stream);
  CHECK(same(stream->view(), large[1]));
}

TEST_CASE("a superblock that cannot be is an error at its field") {
  struct Row {
    const char* why;
    u64 offset;
    u32 content;
    Fault fault;
  };
  const auto row = GENERATE(values<Row>({
      {"another signature", 0, 0x20656854, Fault::bad_magic},
      {"its last byte", 28, 0x00010053, Fault::bad_magic},
      {"no block size", 32, 0, Fault::bad_value},
      {"a small block size", 32, 256, Fault::bad_value},
      {"a large block size", 32, 65536, Fault::bad_value},
      {"no power of two", 32, 513, Fault::bad_value},
      {"no blocks", 40, 0, Fault::limit},
      {"a directory beyond the file", 44, 0x7fff'ffff, Fault::limit},
      {"a directory of all numbers", 44, 0xffff'ffff, Fault::limit},
      {"no directory", 44, 0, Fault::out_of_bounds},
      {"a directory without a count", 44, 3, Fault::out_of_bounds},
      {"a block map outside", 52, 0x1000, Fault::out_of_bounds},
      {"a block map at the superblock", 52, 0, Fault::out_of_bounds},
  }));
  CAPTURE(row.why);
  auto file = fixtures::build_msf(512, streams, true);
  file.patch<u32>(row.offset, row.content);
  const test::ExactBytes bytes{file.view()};
  core::Findings findings;
  const auto msf = pe::Msf::open(bytes.view(), findings);
  REQUIRE_FALSE(msf);
  CHECK(msf.error().fault == row.fault);
  CHECK(msf.error().offset <= file.bytes.size());
}

TEST_CASE("a directory block that comes twice, or is the superblock, is an error") {
  auto file = fixtures::build_msf(512, {{}, numbered(512 * 200, 1)}, true);
  REQUIRE(file.directory_blocks.size() == 2);
  const u64 map = u64{file.block_map_blocks[0]} * 512;
  const bool twice = GENERATE(false, true);
  file.patch<u32>(map + 4, twice ? file.directory_blocks[0] : 0);
  core::Findings findings;
  const auto msf = pe::Msf::open(file.view(), findings);
  REQUIRE_FALSE(msf);
  CHECK(msf.error().fault == (twice ? Fault::loop : Fault::out_of_bounds));
}

TEST_CASE("more streams than the directory has room for are an error") {
  auto file = fixtures::build_msf(512, streams, true);
  const u32 count = GENERATE(100U, 0x4000'0000U, 0xffff'ffffU);
  file.patch<u32>(file.directory_offset(0), count);
  core::Findings findings;
  const auto msf = pe::Msf::open(file.view(), findings);
  REQUIRE_FALSE(msf);
  CHECK(msf.error().fault == Fault::out_of_bounds);
}

TEST_CASE("a damaged stream is an error, and the others are read") {
  struct Row {
    const char* why;
    bool size;  // else the first block
    u32 content;
    Fault fault;
  };
  const auto file = fixtures::build_msf(512, streams, true);
  const auto row = GENERATE_COPY(values<Row>({
      {"a block behind the last", false, static_cast<u32>(file.bytes.size() / 512),
       Fault::out_of_bounds},
      {"a block far outside", false, 0xffff'ffff, Fault::out_of_bounds},
      {"the superblock", false, 0, Fault::out_of_bounds},
      {"a block twice", false, file.blocks[4][3], Fault::loop},
      {"a size beyond its list", true, 512 * 200, Fault::out_of_bounds},
      {"an absurd size", true, 0xffff'fffe, Fault::out_of_bounds},
  }));
  CAPTURE(row.why);
  auto damaged = file;
  damaged.patch(row.size ? file.directory_offset(4 + 4 * 4) : file.block_list_offset(4, 0),
                row.content);
  const test::ExactBytes bytes{damaged.view()};
  core::Findings findings;
  const auto msf = pe::Msf::open(bytes.view(), findings);
  REQUIRE(msf);
  const auto stream = msf->read(4, "stream");
  REQUIRE_FALSE(stream);
  CHECK(stream.error().fault == row.fault);
  CHECK(stream.error().offset <= damaged.bytes.size());
  CHECK(findings.count("pdb-directory") == (row.size ? 1 : 0));
  const auto other = msf->read(3, "stream");
  REQUIRE(other);
  CHECK(same(other->view(), streams[3]));
}

TEST_CASE("a part of a stream is read whose next block is damaged") {
  auto file = fixtures::build_msf(512, streams, true);
  file.patch<u32>(file.block_list_offset(4, 2), 0xffff'ffff);
  core::Findings findings;
  const auto msf = pe::Msf::open(file.view(), findings);
  REQUIRE(msf);
  const auto part = msf->read(4, 100, 2 * 512 - 100, "stream");
  REQUIRE(part);
  CHECK(same(part->view(), core::ByteView{streams[4]}.subspan(100, 2 * 512 - 100)));
  CHECK_FALSE(msf->read(4, 100, 2 * 512 - 99, "stream"));
}

TEST_CASE("streams that are not there are errors") {
  auto file = fixtures::build_msf(512, streams, true);
  file.patch<u32>(file.directory_offset(4), 0xffff'ffff);
  core::Findings findings;
  const auto msf = pe::Msf::open(file.view(), findings);
  REQUIRE(msf);
  for (const u32 index : {0U, 5U, 0xffffU, 0xffff'ffffU}) {
    CAPTURE(index);
    CHECK_FALSE(msf->stream_size(index));
    REQUIRE_FALSE(msf->read(index, "stream"));
    CHECK_FALSE(msf->offset_of(index, 0));
  }
  CHECK_FALSE(msf->read(4, 5000, 1, "stream"));
  CHECK_FALSE(msf->read(4, ~u64{0}, 1, "stream"));
  CHECK_FALSE(msf->read(4, 1, ~u64{0}, "stream"));
}

}  // namespace
}  // namespace coldtrace
