#include "coldtrace/ntfs/logfile/log_restart.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

// Source: Linux's ntfs3, fslog.c, structs RESTART_HDR, RESTART_AREA and CLIENT_REC. The restart
// area is at 0x30, its client at 0x40 of it. There is nothing in the places of fixups.
fixtures::ByteWriter restart_page() {
  fixtures::ByteWriter page;
  page.write_text("RSTR").write_u16(0x1e).write_u16(9).write_u64(0x11);
  page.write_u32(4096).write_u32(4096).write_u16(0x30).write_u16(1).write_u16(1);
  page.pad_to(0x30).write_u64(0x1234).write_u16(1).write_u16(0xffff).write_u16(0).write_u16(2);
  page.write_u32(45).write_u16(224).write_u16(0x40).write_u64(0x40'0000).write_u32(0);
  page.write_u16(48).write_u16(64);
  page.pad_to(0x70).write_u64(0x1000).write_u64(0x2000).pad_to(0x70 + 28).write_u32(8);
  return page.write_bytes(std::as_bytes(std::span{u"NTFS", 4})).pad_to(LogRestart::page_size);
}

core::Result<LogRestart> read(const fixtures::ByteWriter& page) {
  auto bytes = page.bytes();
  return read_log_restart(bytes, 0);
}

}  // namespace

TEST_CASE("a restart page has its fields where Linux's ntfs3 has them") {
  const auto restart = read(restart_page());
  REQUIRE(restart);
  CHECK_FALSE(restart->torn);
  CHECK_FALSE(restart->after_chkdsk);
  CHECK(restart->chkdsk_lsn == 0x11);
  CHECK(restart->log_page_size == 4096);
  CHECK(restart->major == 1);
  CHECK(restart->current_lsn == 0x1234);
  CHECK(restart->clean());
  CHECK(restart->sequence_bits == 45);
  CHECK(restart->file_size == 0x40'0000);
  CHECK(restart->record_header_size == 48);
  CHECK(restart->data_offset == 64);
  CHECK(restart->oldest_lsn == 0x1000U);
  CHECK(restart->restart_lsn == 0x2000U);
  CHECK(restart->client == "NTFS");
  const auto unused = read(restart_page().patch<u16>(0x3c, 0xffff));  // ClientInUseList
  REQUIRE(unused);
  CHECK_FALSE(unused->oldest_lsn);
  CHECK(unused->client.empty());
}

TEST_CASE("a restart page whose numbers no log has is refused") {
  struct Row {
    const char* why;
    std::size_t at;
    u32 size;
    u32 value;
    bool read;
  };
  const auto row = GENERATE(values<Row>({
      {"pages below one KiB", 0x14, 4, 512, false},
      {"the smallest pages", 0x14, 4, 1024, true},
      {"the largest pages", 0x14, 4, 65536, true},
      {"larger ones", 0x14, 4, 131072, false},
      {"no power of two", 0x14, 4, 4104, false},
      {"an area at the end of the page", 0x18, 2, 4096, false},
      {"an area behind it", 0x18, 2, 4104, false},
      {"offsets shifted out of 64 bits", 0x40, 4, 3, false},
      {"the longest offsets", 0x40, 4, 4, true},
      {"the shortest offsets", 0x40, 4, 60, true},
      {"no bit of an offset but three", 0x40, 4, 61, false},
      {"a head without a transaction", 0x54, 2, 40, false},
      {"a head of no multiple of eight", 0x54, 2, 52, false},
      {"the longest head", 0x54, 2, 256, true},
      {"a longer one", 0x54, 2, 264, false},
      {"records in the head of their page", 0x56, 2, 32, false},
      {"records behind it", 0x56, 2, 40, true},
      {"records at no multiple of eight", 0x56, 2, 44, false},
      {"one record's head up to the end", 0x56, 2, 4048, true},
      {"none", 0x56, 2, 4056, false},
  }));
  CAPTURE(row.why);
  auto page = restart_page();
  if (row.size == 4)
    page.patch<u32>(row.at, row.value);
  else
    page.patch<u16>(row.at, static_cast<u16>(row.value));
  CHECK(read(page).has_value() == row.read);
}
