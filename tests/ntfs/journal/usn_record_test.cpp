#include "coldtrace/ntfs/journal/usn_record.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

// Source: [MS-FSCC] 2.3.65.1, USN_RECORD_V2.
fixtures::ByteWriter version_2() {
  fixtures::ByteWriter record;
  record.write_u32(0x48).write_u16(2).write_u16(0);
  record.write_u64(0x0003'0000'0000'0021).write_u64(0x0005'0000'0000'0005);
  record.write_u64(0x1000).write_u64(0x01d5'0000'0000'0000);
  record.write_u32(0x8000'0100).write_u32(0).write_u32(0x101).write_u32(0x20);
  record.write_u16(10).write_u16(0x3c);
  record.write_bytes(std::as_bytes(std::span{u"a.txt", 5}));
  return record.pad_to(0x48);
}

}  // namespace

TEST_CASE("a record of version 2 has its fields where [MS-FSCC] has them") {
  const auto bytes = version_2();
  const auto record = read_usn_record(bytes.view(), 0);
  REQUIRE(record);
  CHECK(record->major == 2);
  CHECK(record->file == FileReference{0x21, 3});
  CHECK(record->parent == FileReference{5, 5});
  CHECK(record->usn == 0x1000);
  CHECK(record->end() == 0x1048);
  CHECK(record->reasons == 0x8000'0100);
  CHECK(record->closes());
  CHECK(record->security_id == 0x101);
  CHECK(record->attributes == 0x20);
  CHECK_FALSE(record->is_directory());
  CHECK(to_utf8(record->name) == "a.txt");
}

TEST_CASE("what no record has is refused") {
  struct Row {
    const char* why;
    std::size_t at;
    u16 value;
  };
  const auto row = GENERATE(values<Row>({
      {"shorter than its fixed part", 0, 0x38},
      {"longer than the bytes", 0, 0x50},
      {"no multiple of eight", 0, 0x44},
      {"a version that there is not", 4, 9},
      {"a name behind the record", 0x38, 0x40},
      {"a name inside the fixed part", 0x3a, 0x20},
  }));
  CAPTURE(row.why);
  CHECK_FALSE(read_usn_record(version_2().patch(row.at, row.value).view(), 0));
}

TEST_CASE("every truncation of a record is refused") {
  const auto bytes = version_2();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CAPTURE(cut);
    CHECK_FALSE(read_usn_record(bytes.view().first(cut), 0));
  }
}
