#include <catch2/catch.hpp>

#include "coldtrace/core/checksums.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/packed_record.hpp"
#include "coldtrace/ntfs/security.hpp"
#include "coldtrace/ntfs/sleuthkit_ids.hpp"
#include "coldtrace/ntfs/structures/attribute_list.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"
#include "coldtrace/ntfs/structures/data_runs.hpp"
#include "coldtrace/ntfs/structures/extended_attributes.hpp"
#include "coldtrace/ntfs/structures/file_name.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"
#include "coldtrace/ntfs/structures/index.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"
#include "fixtures/builders/ntfs_image.hpp"
#include "fixtures/builders/value_of.hpp"
#include "ntfs/volume/security_owners.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;

ByteWriter boot_sector(u8 sectors_per_cluster, u8 record, u16 sector_size = 512) {
  ByteWriter out;
  out.write_zeros(3).write_text("NTFS    ").write_u16(sector_size).write_u8(sectors_per_cluster);
  out.pad_to(0x28).write_u64(100'000'000).write_u64(4).write_u64(2);
  out.write_u32(record).write_u32(0xf4).pad_to(0x1fe).write_u16(0xaa55);
  return out;
}

TEST_CASE("all encodings of cluster and record size are understood") {
  struct Row {
    const char* why;
    u8 cluster;
    u8 record;
    u16 sector;
    u32 cluster_size;
    u32 record_size;
  };
  const auto row = GENERATE(values<Row>({
      {"usual", 8, 0xf6, 512, 4096, 1024},
      {"512-byte clusters, records of two", 1, 2, 512, 512, 1024},
      {"64 KiB is a plain 128", 0x80, 0xf6, 512, 65536, 1024},
      {"128 KiB is a power of two", 0xf8, 0xf6, 512, 131072, 1024},
      {"2 MiB", 0xf4, 0xf6, 512, 2 << 20, 1024},
      {"4Kn, record of one cluster", 1, 1, 4096, 4096, 4096},
      {"4096-byte records on 512-byte sectors", 8, 0xf4, 512, 4096, 4096},
      {"sectors of 256 bytes, the smallest", 16, 0xf6, 256, 4096, 1024},
  }));
  CAPTURE(row.why);
  const auto bytes = boot_sector(row.cluster, row.record, row.sector);
  const auto boot = ntfs::read_boot_sector(bytes.view(), 0);
  REQUIRE(boot);
  CHECK(boot->cluster_size == row.cluster_size);
  CHECK(boot->record_size == row.record_size);
}

TEST_CASE("impossible boot sectors are refused with the field") {
  struct Row {
    const char* why;
    u64 at;
    u16 value;
    const char* field;
  };
  const auto row = GENERATE(values<Row>({
      {"no NTFS", 3, 0x4141, "OemId"},
      {"sectors of 3 bytes", 0x0b, 3, "BytesPerSector"},
      {"sectors of 128 bytes", 0x0b, 128, "BytesPerSector"},
      {"sectors of 8192 bytes", 0x0b, 8192, "BytesPerSector"},
      {"three sectors a cluster", 0x0d, 3, "SectorsPerCluster"},
      {"200 sectors a cluster", 0x0d, 200, "SectorsPerCluster"},
      {"records of 2^-1 bytes", 0x40, 0xff, "ClustersPerRecord"},
      {"records of 2 GiB", 0x40, 0xe1, "ClustersPerRecord"},
      {"records of no cluster", 0x40, 0, "ClustersPerRecord"},
  }));
  CAPTURE(row.why);
  auto bytes = boot_sector(8, 0xf6);
  bytes.patch<u16>(row.at, row.value);
  const auto boot = ntfs::read_boot_sector(bytes.view(), 0);
  REQUIRE_FALSE(boot);
  CHECK(boot.error().field.view() == row.field);
}

TEST_CASE("a cluster has at most 2 MiB") {
  const auto largest = ntfs::read_boot_sector(boot_sector(0xf7, 0xf6, 4096).view(), 0);
  REQUIRE(largest);
  CHECK(largest->cluster_size == 2 << 20);
  const auto larger = ntfs::read_boot_sector(boot_sector(0xf6, 0xf6, 4096).view(), 0);
  REQUIRE_FALSE(larger);
  CHECK(larger.error().field.view() == "SectorsPerCluster");
}

// 2^43 clusters of 2 MiB, the largest, are more bytes than 64 bits count.
TEST_CASE("a volume has a cluster, and fewer than 2^43") {
  struct Row {
    u64 sectors;
    bool read;
  };
  const auto row = GENERATE(values<Row>({{0, false},
                                         {7, false},
                                         {8, true},
                                         {15, true},
                                         {16, true},
                                         {(u64{1} << 46) - 8, true},
                                         {u64{1} << 46, false}}));
  CAPTURE(row.sectors);
  const auto boot = ntfs::read_boot_sector(boot_sector(8, 0xf6).patch(0x28, row.sectors).view(), 0);
  REQUIRE(boot.has_value() == row.read);
  if (boot)
    CHECK(boot->clusters == row.sectors / 8);
  else
    CHECK(boot.error().field.view() == "TotalSectors");
}

// Runs and their bytes by the examples of the format's documentation.
TEST_CASE("mapping pairs are decoded") {
  struct Row {
    const char* why;
    std::vector<u8> bytes;
    std::vector<std::pair<u64, std::optional<u64>>> runs;
    bool damaged;
  };
  const auto row = GENERATE(values<Row>({
      {"one run", {0x21, 0x03, 0x71, 0x01, 0}, {{3, 0x171}}, false},
      {"LCN 0 is a place", {0x11, 0x02, 0x00, 0}, {{2, 0}}, false},
      {"a hole", {0x01, 0x40, 0}, {{0x40, std::nullopt}}, false},
      {"LCN -1 is a hole of NT 3.1", {0x11, 0x08, 0xff, 0}, {{8, std::nullopt}}, false},
      {"backwards after a hole",
       {0x11, 4, 0x40, 0x01, 2, 0x11, 1, 0xf0, 0},
       {{4, 0x40}, {2, std::nullopt}, {1, 0x30}},
       false},
      {"lengths are unsigned", {0x11, 0xff, 0x10, 0}, {{255, 0x10}}, false},
      {"no terminator in a full attribute", {0x11, 1, 1}, {{1, 1}}, false},
      {"empty pairs say nothing", {0x11, 0, 1, 0x11, 1, 1, 0}, {{1, 2}}, false},
      {"before the first cluster", {0x11, 0x30, 0x90, 0}, {}, true},
      {"cut off", {0x11, 1, 1, 0x44, 1}, {{1, 1}}, true},
      {"length of no bytes", {0x10, 1}, {}, true},
  }));
  CAPTURE(row.why);
  ntfs::DataRunReader in{std::as_bytes(std::span{row.bytes}), 0x100};
  std::vector<std::pair<u64, std::optional<u64>>> runs;
  while (const auto run = in.next())
    runs.emplace_back(run->clusters, run->start ? std::optional<u64>{static_cast<u64>(*run->start)}
                                                : std::nullopt);
  CHECK(runs == row.runs);
  CHECK(in.damage().has_value() == row.damaged);
  if (in.damage()) CHECK(in.damage()->offset >= 0x100);
}

std::vector<std::byte> any_record() {
  fixtures::NtfsImage image;
  const u64 file = image.add_file(u"name.txt", std::string(300, 'x'));
  image.file(file).streams.push_back(
      {.name = u"s", .runs = {{image.allocate(2), 2}}, .size = 5000});
  const auto bytes = image.build();
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(image.record_offset(file));
  return {at, at + 1024};
}

TEST_CASE("a record cut anywhere is refused or read with what it has, inside its bytes") {
  const auto whole = any_record();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    std::vector<std::byte> record{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)};
    ntfs::RecordFacts facts;
    const auto damage = ntfs::read_fixed_record(record, 24, 0x1000, facts);
    if (!damage) {
      REQUIRE(damage.error().offset <= 0x1000 + cut + 0x18);
    } else {
      REQUIRE(facts.names.size() <= 1);
      REQUIRE(facts.attributes.size() <= 2);
    }
  }
}

TEST_CASE("a packed record is the record") {
  auto bytes = any_record();
  ntfs::RecordFacts facts;
  REQUIRE(ntfs::read_fixed_record(bytes, 24, 0, facts));
  ntfs::PackedWriter packed;
  ntfs::pack_record(facts, packed);
  CHECK(packed.view().size() < 100);
  ntfs::RecordFacts again;
  ntfs::unpack_record(packed.view(), 24, again);
  REQUIRE(again.names.size() == 1);
  CHECK(to_utf8(again.names[0].name) == "name.txt");
  CHECK(again.names[0].times == facts.names[0].times);
  CHECK(again.information->times == facts.information->times);
  CHECK(again.information->security_id == facts.information->security_id);
  REQUIRE(again.attributes.size() == 2);
  CHECK(again.attributes[0].size == 300);
  CHECK(again.attributes[1].size == 5000);
  CHECK(equals_ascii(again.attributes[1].name, "s"));
}

TEST_CASE("sixteen distinct times survive packing") {
  ntfs::RecordFacts facts;
  const std::u16string name = u"n";
  u64 tick = 1;
  for (int i = 0; i < 6; ++i) {
    ntfs::FileName entry{};
    entry.times = {{tick}, {tick + 1}, {tick + 2}, {tick + 3}};
    tick += 4;
    entry.name = ntfs::to_stored_text(std::as_bytes(std::span{name.data(), name.size()}));
    facts.names.push_back(entry);
  }
  ntfs::PackedWriter packed;
  ntfs::pack_record(facts, packed);
  ntfs::RecordFacts again;
  ntfs::unpack_record(packed.view(), 0, again);
  REQUIRE(again.names.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(again.names[i].times == facts.names[i].times);
}

ByteWriter reparse(u32 tag, const ByteWriter& data) {
  ByteWriter out;
  out.write_u32(tag).write_u16(data.size()).write_u16(0).write_bytes(data.view());
  return out;
}

ByteWriter& write_utf16(ByteWriter& out, std::u16string_view text) {
  for (const char16_t unit : text) out.write_u16(unit);
  return out;
}

TEST_CASE("targets of reparse points are decoded") {
  ByteWriter junction;
  junction.write_u16(0).write_u16(14).write_u16(16).write_u16(0);
  write_utf16(junction, u"\\??\\C:\\");
  ByteWriter link;
  link.write_u16(4).write_u16(6).write_u16(0).write_u16(4).write_u32(1);
  write_utf16(link, u"p:sub");
  ByteWriter alias;
  alias.write_u32(3);
  write_utf16(alias, std::u16string_view{u"Pkg\0App\0C:\\a.exe\0", 17});
  const auto target = [](u32 tag, const ByteWriter& data) {
    const auto value = reparse(tag, data);
    return fixtures::value_of(ntfs::read_reparse_point(value.view(), 0)).target;
  };
  CHECK(target(0xa0000003, junction) == "\\??\\C:\\");
  CHECK(target(0xa000000c, link) == "sub");
  CHECK(target(0xa000001d, ByteWriter{}.write_u32(2).write_text("/usr")) == "/usr");
  CHECK(target(0x8000001b, alias) == "C:\\a.exe");
  CHECK(target(0x80000017, ByteWriter{}.write_u32(1).write_u32(2).write_u32(1).write_u32(1)) ==
        "lzx");
  CHECK_FALSE(target(0x80000013, ByteWriter{}.write_u32(1)));
  CHECK(ntfs::reparse_tag_name(0x9000301a) == "cloud");
  const auto whole = reparse(0xa0000003, junction);
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    REQUIRE_FALSE(ntfs::read_reparse_point(whole.view().first(cut), 0));
}

ByteWriter descriptor(u32 relative) {
  ByteWriter out;
  out.write_u8(1).write_u8(0).write_u16(0x8004).write_u32(20).write_u32(0).write_u64(0);
  out.write_u8(1).write_u8(2).write_zeros(5).write_u8(5).write_u32(32).write_u32(relative);
  return out;
}

u32 hash_of(core::ByteView descriptor) {
  u32 hash = 0;
  for (std::size_t at = 0; at < descriptor.size(); at += 4)
    hash = (hash << 3 | hash >> 29) + *core::load<u32>(descriptor, at);
  return hash;
}

TEST_CASE("owners come from the copy in $SDS that the hash fits") {
  ByteWriter block;
  const auto add = [&](u32 id, u32 relative) {
    const auto sd = descriptor(relative);
    const u64 place = block.size();
    block.write_u32(hash_of(sd.view())).write_u32(id).write_u64(place).write_u32(20 + sd.size());
    block.write_bytes(sd.view()).align(16);
  };
  add(256, 544);
  add(257, 545);
  static constexpr std::size_t hash = 0, place = 8, relative = 20 + 32;
  struct Row {
    const char* why;
    std::optional<std::size_t> main, copy;  // where other bytes are
    const char* owner;
    u64 entries, unused;
  };
  const auto row = GENERATE(values<Row>({
      {"sound", {}, {}, "S-1-5-32-544", 0, 0},
      {"another descriptor", relative, {}, "S-1-5-32-544", 1, 0},
      {"another descriptor in the copy", {}, relative, "S-1-5-32-544", 1, 0},
      {"another hash", hash, {}, "S-1-5-32-544", 1, 0},
      {"another hash in both", hash, hash, "S-1-5-32-544", 1, 0},
      {"no first entry", place, {}, "S-1-5-32-544", 1, 0},
      {"another descriptor, and hash of the copy", relative, hash, "", 1, 1},
      {"no entry", place, place, "", 0, 0},
  }));
  CAPTURE(row.why);
  auto copy = block;
  if (row.main) block.patch<u32>(*row.main, 0x1234);
  if (row.copy) copy.patch<u32>(*row.copy, 0x1234);
  ntfs::SecurityOwnersReader reader{{}};
  reader.add({block.view(), copy.view(), 0});
  auto owners = reader.finish();
  CHECK(owners[256] == row.owner);
  // Behind damage the next entry is found by its own position.
  CHECK(owners[257] == "S-1-5-32-545");
  CHECK(reader.faults().unfit.count == row.entries);
  CHECK(reader.faults().unused == row.unused);
  CHECK(reader.faults().contradictory.count == 0);
}

TEST_CASE("an unsorted attribute list is read, a bad entry is noted") {
  ByteWriter list;
  const auto add = [&](u32 type, u64 record) {
    list.write_u32(type).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(0);
    list.write_u64(record | u64{1} << 48).write_u16(0).align(8);
  };
  add(0x80, 40);
  add(0x10, 24);
  ntfs::AttributeListReader entries{list.view(), 0};
  CHECK(entries.next()->record.record == 40);
  CHECK(entries.next()->record.record == 24);
  CHECK_FALSE(entries.next());
  CHECK_FALSE(entries.damage());
  for (std::size_t cut = 1; cut < list.size(); ++cut) {
    ntfs::AttributeListReader short_list{list.view().first(cut), 0};
    while (short_list.next()) continue;
    if (cut != 0x20) CHECK(short_list.damage());
  }
}

// The ids are those that istat 4.11.1 showed of such a file, whose list ntfs-3g had made.
TEST_CASE("attributes of extension records have the ids by which The Sleuth Kit knows them") {
  ByteWriter list;
  const auto add = [&](u32 type, std::u16string_view name, u64 vcn, u64 record, u16 id) {
    list.write_u32(type).write_u16(static_cast<u16>((0x1a + name.size() * 2 + 7) / 8 * 8));
    list.write_u8(static_cast<u8>(name.size())).write_u8(0x1a).write_u64(vcn);
    list.write_u64(record | u64{1} << 48).write_u16(id);
    for (const char16_t unit : name) list.write_u16(unit);
    list.align(8);
  };
  add(0x10, u"", 0, 126, 0);
  add(0x30, u"", 0, 127, 0);
  add(0x80, u"", 0, 126, 2);
  add(0x80, u"stream14", 0, 126, 19);
  add(0x80, u"stream15", 0, 127, 1);
  add(0x80, u"stream15", 9, 128, 5);
  add(0x80, u"stream16", 0, 127, 2);
  add(0x80, u"stream32", 0, 128, 0);
  const ntfs::SleuthKitIds ids{126, 17, {list.view().begin(), list.view().end()}};
  const auto data = [&](std::u16string_view name, u64 record, u16 id) {
    ByteWriter units;
    for (const char16_t unit : name) units.write_u16(unit);
    return ids.find(ntfs::AttributeType::data, ntfs::to_stored_text(units.view()), record, id);
  };
  CHECK(ids.find(ntfs::AttributeType::file_name, {}, 127, 0) == 20);
  CHECK(data(u"", 126, 2) == 2);
  CHECK(data(u"stream14", 126, 19) == 19);
  CHECK(data(u"stream15", 127, 1) == 21);
  CHECK(data(u"stream16", 127, 2) == 22);
  CHECK(data(u"stream32", 128, 0) == 23);
}

TEST_CASE("names that are not UTF-16 keep their units") {
  const ByteWriter units = ByteWriter{}.write_u16('a').write_u16(0xd800).write_u16('b');
  const auto text = ntfs::to_stored_text(units.view());
  std::string utf8;
  CHECK_FALSE(ntfs::append_utf8(utf8, text));
  CHECK(utf8 ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(ntfs::to_utf16_hex(text) == "610000d86200");
}

TEST_CASE("fixups are put back as far as their array is one") {
  struct Row {
    const char* why;
    u16 offset;
    u16 count;
    bool incomplete;
    bool first, second;  // whether the bytes of these strides are put back
  };
  const auto row = GENERATE(values<Row>({
      {"as it should be", 0x30, 3, false, true, true},
      {"as near the head as may be", 0x28, 3, false, true, true},
      {"inside of the head", 0x26, 3, true, false, false},
      {"at an odd place", 0x31, 3, true, false, false},
      {"as far behind as may be", 504, 3, false, true, true},
      {"over the bytes that it protects", 506, 3, true, false, false},
      {"empty", 0x30, 0, true, false, false},
      {"with the number alone", 0x30, 1, true, false, false},
      {"too short", 0x30, 2, true, true, false},
      {"too long", 0x30, 4, true, true, true},
  }));
  CAPTURE(row.why);
  ByteWriter out;
  out.write_text("FILE").write_u16(row.offset).write_u16(row.count).pad_to(1024);
  out.patch<u16>(row.offset, 0x7777).patch<u16>(row.offset + 2u, 0x1111);
  out.patch<u16>(row.offset + 4u, 0x2222);
  out.patch<u16>(510, 0x7777).patch<u16>(1022, 0x7777);
  std::vector<std::byte> record{out.view().begin(), out.view().end()};
  const auto fixup = ntfs::apply_fixups(record);
  CHECK(fixup.incomplete == row.incomplete);
  CHECK_FALSE(fixup.torn);
  CHECK(core::load<u16>(record, 510) == (row.first ? 0x1111 : 0x7777));
  CHECK(core::load<u16>(record, 1022) == (row.second ? 0x2222 : 0x7777));
}

TEST_CASE("a stride that does not end with the number keeps its bytes") {
  ByteWriter out;
  out.write_text("FILE").write_u16(0x30).write_u16(3).pad_to(1024);
  out.patch<u16>(0x30, 0x7777).patch<u16>(0x32, 0x1111).patch<u16>(0x34, 0x2222);
  const u64 torn = GENERATE(510u, 1022u);
  out.patch<u16>(510, 0x7777).patch<u16>(1022, 0x7777).patch<u16>(torn, 0x7778);
  std::vector<std::byte> record{out.view().begin(), out.view().end()};
  const auto fixup = ntfs::apply_fixups(record);
  CHECK(fixup.torn);
  CHECK_FALSE(fixup.incomplete);
  CHECK(core::load<u16>(record, torn) == 0x7778);
  CHECK(core::load<u16>(record, 1532 - torn) == (torn == 510 ? 0x2222 : 0x1111));
}

TEST_CASE("extended attributes are listed") {
  ByteWriter list;
  list.write_u32(24).write_u8(0).write_u8(6).write_u16(4).write_text("$LXUID").write_u8(0);
  list.write_u32(1000).pad_to(24);
  list.write_u32(0).write_u8(0).write_u8(1).write_u16(1).write_text("A").write_u8(0).write_u8(9);
  ntfs::ExtendedAttributeReader in{list.view()};
  const auto first = in.next();
  CHECK(first->name == "$LXUID");
  CHECK(core::load<u32>(first->value, 0) == 1000u);
  CHECK(in.next()->name == "A");
  CHECK_FALSE(in.next());
}

TEST_CASE("CRC-32 is that of zlib") {
  const std::string_view text = "123456789";
  CHECK(core::crc32(std::as_bytes(std::span{text.data(), text.size()})) == 0xcbf43926);
}

}  // namespace
}  // namespace coldtrace
