#include "coldtrace/ntfs/journal/usn_record.hpp"

#include <array>
#include <bit>

#include <catch2/catch.hpp>

#include "coldtrace/ntfs/journal/usn_names.hpp"
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

// Source: [MS-FSCC] 2.3.65.3, USN_RECORD_V4, with one extent.
fixtures::ByteWriter version_4() {
  fixtures::ByteWriter record;
  record.write_u32(0x50).write_u16(4).write_u16(0);
  record.write_u64(0x0003'0000'0000'0021)
      .write_u64(0)
      .write_u64(0x0005'0000'0000'0005)
      .write_u64(0);
  record.write_u64(0x1000).write_u32(0x1).write_u32(0).write_u32(7).write_u16(1).write_u16(16);
  return record.write_u64(0x2000).write_u64(0x3000);
}

}  // namespace

TEST_CASE("a record of version 4 has extents, and is as long as they are") {
  const auto bytes = version_4();
  const auto record = read_usn_record(bytes.view(), 0);
  REQUIRE(record);
  CHECK(record->file == FileReference{0x21, 3});
  CHECK(record->extents_left == 7);
  CHECK(record->extent(0).offset == 0x2000);
  CHECK(record->extent(0).length == 0x3000);
  CHECK(record->name.empty());
  CHECK_FALSE(record->time);
  auto longer = version_4().patch<u32>(0, 0x58);
  CHECK_FALSE(read_usn_record(longer.write_u64(0).view(), 0));
  CHECK_FALSE(read_usn_record(version_4().patch<u16>(0x3c, 2).view(), 0));
  CHECK_FALSE(read_usn_record(version_4().patch<u16>(0x3e, 8).view(), 0));
}

TEST_CASE("of a time only 0 says that there is none") {
  const auto time = [](u64 ticks) {
    const auto bytes = version_2().patch<u64>(0x20, ticks);
    const auto record = read_usn_record(bytes.view(), 0);
    REQUIRE(record);
    return record->time;
  };
  CHECK_FALSE(time(0));
  CHECK(time(1) == core::FileTime{1});
}

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

TEST_CASE("a name has one to 255 characters") {
  const auto is_read = [](u16 characters) {
    auto bytes = version_2();
    bytes.patch<u16>(0x38, static_cast<u16>(characters * 2));
    for (u16 i = 0; i < characters; ++i) bytes.patch<u16>(0x3c + std::size_t{i} * 2, u'n');
    const auto size = (0x3cU + characters * 2U + 7) / 8 * 8;
    bytes.patch<u32>(0, size).pad_to(size);
    return read_usn_record(bytes.view(), 0).has_value();
  };
  CHECK_FALSE(is_read(0));
  CHECK(is_read(1));
  CHECK(is_read(255));
  CHECK_FALSE(is_read(256));
}

TEST_CASE("every truncation of a record is refused") {
  const auto bytes = version_2();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CAPTURE(cut);
    CHECK_FALSE(read_usn_record(bytes.view().first(cut), 0));
  }
}

// Source: [MS-FSCC] 2.3.65.1, Reason and SourceInfo, bit by bit.
TEST_CASE("reasons and sources have the names of [MS-FSCC]") {
  const std::array<std::string_view, 32> reasons{"data_overwrite",
                                                 "data_extend",
                                                 "data_truncation",
                                                 "",  // 0x1
                                                 "named_data_overwrite",
                                                 "named_data_extend",
                                                 "named_data_truncation",
                                                 "",  // 0x10
                                                 "file_create",
                                                 "file_delete",
                                                 "ea_change",
                                                 "security_change",  // 0x100
                                                 "rename_old_name",
                                                 "rename_new_name",
                                                 "indexable_change",
                                                 "basic_info_change",  // 0x1000
                                                 "hard_link_change",
                                                 "compression_change",
                                                 "encryption_change",
                                                 "object_id_change",  // 0x10000
                                                 "reparse_point_change",
                                                 "stream_change",
                                                 "transacted_change",
                                                 "integrity_change",  // 0x100000
                                                 "desired_storage_class_change",
                                                 "",
                                                 "",
                                                 "",
                                                 "",
                                                 "",
                                                 "",
                                                 "close"};
  const std::array<std::string_view, 32> sources{"data_management", "auxiliary_data",
                                                 "replication_management",
                                                 "client_replication_management"};
  const auto by_bit = [](const std::vector<UsnFlag>& flags) {
    std::array<std::string_view, 32> names{};
    for (const auto& flag : flags) {
      REQUIRE(std::has_single_bit(flag.bit));
      names[static_cast<std::size_t>(std::countr_zero(flag.bit))] = flag.name;
    }
    return names;
  };
  CHECK(by_bit(usn_reasons()) == reasons);
  CHECK(by_bit(usn_sources()) == sources);
}
