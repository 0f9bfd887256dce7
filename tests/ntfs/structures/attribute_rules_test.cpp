#include <catch2/catch.hpp>

#include "coldtrace/ntfs/structures/attribute.hpp"
#include "coldtrace/ntfs/structures/dos_attributes.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"
#include "coldtrace/ntfs/structures/standard_information.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using Bytes = std::vector<std::byte>;

// The attribute of a record that has nothing else; nothing where it contradicts itself.
std::optional<ntfs::Attribute> only_attribute(const Bytes& stored, ByteWriter& record) {
  constexpr u32 first = 0x38;
  record.pad_to(first).write_bytes(stored);
  const auto used = static_cast<u32>(record.size() + 8);
  record.write_u32(0xffff'ffff).pad_to(0x400);
  ntfs::AttributeReader reader{record.view(), first, used, 0};
  const auto attribute = reader.next();
  CHECK(attribute.has_value() != reader.damage().has_value());
  return attribute;
}

bool is_read(const Bytes& stored) {
  ByteWriter record;
  return only_attribute(stored, record).has_value();
}

// A value as each type has it: what of it says how long it is, or what version it is of.
Bytes value_of(u32 type) {
  ByteWriter value;
  value.write_zeros(0x48);
  switch (type) {
    case 0x40:  // $OBJECT_ID: a GUID
      return Bytes(16);
    case 0x50:  // $SECURITY_DESCRIPTOR: revision 1
      return value.patch<u8>(0, 1).bytes();
    case 0x90:  // $INDEX_ROOT: its entries end at its end
      return value.patch<u32>(0x14, 0x38).bytes();
    case 0xd0:  // $EA_INFORMATION
      return Bytes(8);
    default:
      return value.bytes();
  }
}

struct FormRow {
  u32 type;
  bool resident, elsewhere, unnamed, named;
};

// $AttrDef: which types are always resident and which never; streams and indexes have names.
TEST_CASE("an attribute is stored as its type is") {
  const FormRow rows[] = {
      {0x10, true, false, true, false},  // $STANDARD_INFORMATION
      {0x20, true, true, true, false},   // $ATTRIBUTE_LIST
      {0x30, true, false, true, false},  // $FILE_NAME
      {0x40, true, false, true, false},  // $OBJECT_ID
      {0x50, true, true, true, false},   // $SECURITY_DESCRIPTOR
      {0x60, true, false, true, false},  // $VOLUME_NAME
      {0x70, true, false, true, false},  // $VOLUME_INFORMATION
      {0x80, true, true, true, true},    // $DATA
      {0x90, true, false, false, true},  // $INDEX_ROOT
      {0xa0, false, true, false, true},  // $INDEX_ALLOCATION
      {0xb0, true, true, true, true},    // $BITMAP
      {0xc0, true, true, true, false},   // $REPARSE_POINT
      {0xd0, true, false, true, false},  // $EA_INFORMATION
      {0xe0, true, true, true, false},   // $EA
      {0x100, true, true, true, true},   // $LOGGED_UTILITY_STREAM
      {0x110, false, false, false, false}, {0x85, false, false, false, false},
  };
  for (const auto& row : rows)
    for (const bool named : {false, true}) {
      CAPTURE(row.type, named);
      const bool may = named ? row.named : row.unnamed;
      const std::u16string name = named ? u"$I30" : u"";
      CHECK(is_read(fixtures::make_resident(row.type, 1, value_of(row.type), name)) ==
            (row.resident && may));
      CHECK(is_read(fixtures::make_non_resident(row.type, 1, {{8, 1}}, 100, 4096, name)) ==
            (row.elsewhere && may));
    }
}

struct ValueRow {
  const char* why;
  u32 type;
  Bytes value;
  bool read;
};

TEST_CASE("a value is one of its type") {
  const auto bytes = [](std::size_t size, u8 first = 0) {
    return ByteWriter{}
        .write_zeros(size)
        .patch_bytes(0, Bytes(size ? 1 : 0, std::byte{first}))
        .bytes();
  };
  const ValueRow rows[] = {
      {"an object's GUID", 0x40, bytes(16), true},
      {"and where it was born: four GUIDs", 0x40, bytes(64), true},
      {"half of a GUID", 0x40, bytes(8), false},
      {"a byte more than one", 0x40, bytes(17), false},
      {"five GUIDs", 0x40, bytes(80), false},
      {"the head of a descriptor of revision 1", 0x50, bytes(20, 1), true},
      {"a byte less", 0x50, bytes(19, 1), false},
      {"revision 2", 0x50, bytes(20, 2), false},
      {"no byte", 0x50, bytes(0), false},
      {"sizes of extended attributes", 0xd0, bytes(8), true},
      {"a byte more", 0xd0, bytes(9), false},
      {"extended attributes up to the end", 0xe0, bytes(16, 16), true},
      {"beyond the end", 0xe0, bytes(16, 17), false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    CHECK(is_read(fixtures::make_resident(row.type, 1, row.value)) == row.read);
  }
}

TEST_CASE("only compressed and sparse streams have a size on the disk") {
  ByteWriter plain_record, sparse_record;
  const auto plain =
      only_attribute(fixtures::make_non_resident(0x80, 1, {{8, 2}}, 5000, 4096), plain_record);
  REQUIRE(plain);
  CHECK_FALSE(plain->total_allocated);
  const std::vector<fixtures::NtfsRun> holes{{8, 2}, {std::nullopt, 6}};
  const auto sparse = only_attribute(
      fixtures::make_non_resident(0x80, 1, holes, 30'000, 4096, {}, 0x8000), sparse_record);
  REQUIRE(sparse);
  CHECK(sparse->total_allocated == u64{2} * 4096);
  // Drivers leave room for it in a stream that has none; of a later extent Windows does not.
  auto roomy = ByteWriter{};
  roomy.write_bytes(fixtures::make_non_resident(0x80, 1, holes, 30'000, 4096, {}, 0x8000));
  roomy.patch<u16>(0x0c, 0);
  ByteWriter roomy_record, later_record;
  const auto with_room = only_attribute(roomy.bytes(), roomy_record);
  REQUIRE(with_room);
  CHECK_FALSE(with_room->total_allocated);
  auto later = fixtures::make_non_resident(0x80, 1, {{8, 2}}, 0, 4096, {}, 0, 16);
  later[0x0d] = std::byte{0x80};  // sparse
  const auto without_room = only_attribute(later, later_record);
  REQUIRE(without_room);
  CHECK_FALSE(without_room->total_allocated);
}

TEST_CASE("$STANDARD_INFORMATION has owners and USNs since it has 72 bytes") {
  for (const u64 size : {0x30U, 0x47U, 0x48U, 0x60U}) {
    CAPTURE(size);
    const auto value = ByteWriter{}
                           .write_zeros(0x60)
                           .patch<u32>(0x34, 0x105)
                           .patch<u64>(0x40, 0x1234'5678)
                           .bytes();
    const auto read = ntfs::read_standard_information(core::ByteView{value}.first(size), 0);
    REQUIRE(read);
    CHECK(read->security_id == (size >= 72 ? std::optional{0x105U} : std::nullopt));
    CHECK(read->usn == (size >= 72 ? std::optional{u64{0x1234'5678}} : std::nullopt));
  }
}

// [MS-FSCC] 2.6; the last two are NTFS's own, of $FILE_NAME.
TEST_CASE("attributes of a file have the names of FILE_ATTRIBUTE_*") {
  const std::pair<u32, const char*> rows[] = {{0x1, "readonly"},
                                              {0x2, "hidden"},
                                              {0x4, "system"},
                                              {0x10, "directory"},
                                              {0x20, "archive"},
                                              {0x80, "normal"},
                                              {0x100, "temporary"},
                                              {0x200, "sparse"},
                                              {0x400, "reparse_point"},
                                              {0x800, "compressed"},
                                              {0x1000, "offline"},
                                              {0x2000, "not_content_indexed"},
                                              {0x4000, "encrypted"},
                                              {0x8000, "integrity_stream"},
                                              {0x20000, "no_scrub_data"},
                                              {0x40000, "ea"},
                                              {0x80000, "pinned"},
                                              {0x100000, "unpinned"},
                                              {0x400000, "recall_on_data_access"},
                                              {0x10000000, "i30_index"},
                                              {0x20000000, "view_index"},
                                              {0x8, "0x8"},
                                              {0x80000000, "0x80000000"}};
  for (const auto& [bit, name] : rows) {
    CHECK(ntfs::dos_attribute_names(bit) == std::vector<std::string>{name});
    CHECK(ntfs::dos_attribute_bit(name) == bit);
  }
  CHECK(ntfs::dos_attribute_bit("recall_on_open") == 0x40000);
}

// [MS-FSCC] 2.1.2.1.
TEST_CASE("tags of reparse points have the names of IO_REPARSE_TAG_*") {
  const std::pair<u32, const char*> rows[] = {{0xa0000003, "mount_point"},
                                              {0xc0000004, "hsm"},
                                              {0x80000006, "hsm2"},
                                              {0x80000007, "sis"},
                                              {0x80000008, "wim"},
                                              {0x80000009, "csv"},
                                              {0x8000000a, "dfs"},
                                              {0xa000000c, "symlink"},
                                              {0x80000012, "dfsr"},
                                              {0x80000013, "dedup"},
                                              {0x80000014, "nfs"},
                                              {0x80000017, "wof"},
                                              {0x80000018, "wci"},
                                              {0x90001018, "wci"},
                                              {0xa0000019, "global"},
                                              {0x8000001b, "app_exec_link"},
                                              {0x9000001c, "projfs"},
                                              {0xa000001d, "lx_symlink"},
                                              {0x8000001e, "storage_sync"},
                                              {0xa000001f, "wci_tombstone"},
                                              {0xa0000022, "projfs_tombstone"},
                                              {0x80000023, "af_unix"},
                                              {0x80000024, "lx_fifo"},
                                              {0x80000025, "lx_chr"},
                                              {0x80000026, "lx_blk"},
                                              {0x80001234, ""}};
  for (const auto& [tag, name] : rows) {
    CAPTURE(tag);
    CHECK(ntfs::reparse_tag_name(tag) == name);
  }
}

}  // namespace
}  // namespace coldtrace
