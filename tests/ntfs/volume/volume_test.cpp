#include <algorithm>
#include <cstring>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/checksums.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using ntfs::State;
using tests::snapshot_of;

std::u16string numbered(int number) {
  std::u16string name = u"file 00000";
  for (int place = 9; number > 0; --place, number /= 10)
    name[static_cast<std::size_t>(place)] = static_cast<char16_t>(u'0' + number % 10);
  return name;
}

TEST_CASE("volumes of every geometry give all names in order, and contents where they are said") {
  struct Row {
    const char* why;
    NtfsImage::Options options;
  };
  const auto row = GENERATE(values<Row>({
      {"clusters of 512 bytes: records and buffers of several clusters",
       {.cluster_size = 512, .clusters = 4096, .records = 400}},
      {"usual", {.clusters = 1024, .records = 400}},
      {"clusters of 64 KiB: index VCNs count 512 bytes",
       {.cluster_size = 65536, .clusters = 64, .records = 400}},
      {"4Kn, records of 4096 bytes",
       {.sector_size = 4096, .record_size = 4096, .clusters = 2048, .records = 400}},
      {"clusters of 2 MiB", {.cluster_size = 2 << 20, .clusters = 16, .records = 400}},
      {"a partition in a disk", {.clusters = 1024, .records = 400, .partition_offset = 65536}},
  }));
  CAPTURE(row.why);
  NtfsImage image{row.options};
  const u64 many = image.add_directory(u"many");
  for (int i = 150; i > 0; --i) image.add_file(numbered(i), "x", many);
  const std::string content(400, 'c');
  image.add_file(u"resident", content);
  const u64 place = image.allocate(3);
  image.add({.names = {{.parent = 5, .name = u"outside", .size = 100}},
             .streams = {{.runs = {{place + 2, 1}, {std::nullopt, 5}, {place, 1}},
                          .size = 100,
                          .flags = 0x8000}}});
  const auto bytes = image.build();
  const auto seen = snapshot_of(bytes, {.offset = row.options.partition_offset});
  REQUIRE(seen.opened);
  CHECK(seen.findings.empty());
  REQUIRE(seen.rows.size() == 1 + 4 + 3 + 150);
  // Depth-first: the directory, then its names in the order of the index.
  const auto start = std::find(seen.order.begin(), seen.order.end(), "/many");
  REQUIRE(start != seen.order.end());
  CHECK(std::is_sorted(start + 1, start + 151));
  CHECK(*(start + 150) == "/many/file 00150");

  const auto* resident = seen.find("/resident");
  REQUIRE(resident->resident_offset);
  for (u64 i = 0; i < content.size(); ++i) {
    const bool displaced =
        std::find(resident->fixup_positions.begin(), resident->fixup_positions.end(), i) !=
        resident->fixup_positions.end();
    const auto byte = bytes[*resident->resident_offset + i];
    if (!displaced) REQUIRE(byte == std::byte{'c'});
    if (displaced) REQUIRE(byte != std::byte{'c'});
  }
  const auto* outside = seen.find("/outside");
  REQUIRE(outside->extents.size() == 3);
  CHECK(static_cast<u64>(*outside->extents[0].lcn) == place + 2);
  CHECK_FALSE(outside->extents[1].lcn);
  CHECK(outside->extents[2].vcn == 6);

  const auto parallel = snapshot_of(bytes, {.jobs = 3, .offset = row.options.partition_offset});
  CHECK(parallel.order == seen.order);
}

TEST_CASE("the copy of a boot sector is of the volume that its sector count says") {
  constexpr u64 start = 65536, clusters = 256, cluster = 4096;
  NtfsImage image{{.clusters = clusters, .records = 60, .partition_offset = start}};
  image.add_file(u"file", "x");
  auto bytes = image.build();
  ByteWriter boot;
  boot.write_bytes(core::ByteView{bytes}.subspan(start, 512));
  for (const u64 at : {start, start + clusters * cluster})
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 512, std::byte{0});
  // A copy at `place` of the image, of a volume of so many sectors, in a partition of `size` bytes.
  const auto said_of = [&](u64 place, u64 size, u64 sector, u64 sectors) {
    auto disk = bytes;
    disk.resize(std::max(disk.size(), start + size));
    boot.patch<u16>(0x0b, static_cast<u16>(sector));
    boot.patch<u8>(0x0d, static_cast<u8>(cluster / sector)).patch<u64>(0x28, sectors);
    std::ranges::copy(boot.view(), disk.begin() + static_cast<std::ptrdiff_t>(place));
    const core::MemoryImage source{disk};
    core::Findings findings;
    CHECK(ntfs::Volume::open(source, start, size, findings).has_value());
    return findings.count("boot-sector");
  };
  for (const u64 sector : {u64{512}, u64{1024}, u64{2048}, u64{4096}}) {
    CAPTURE(sector);
    const u64 place = start + clusters * cluster, size = clusters * cluster + sector;
    const u64 sectors = clusters * cluster / sector;
    CHECK(said_of(place, size, sector, sectors) == 1);
    CHECK(said_of(place, size, sector, sectors - 1) == 0);
    CHECK(said_of(place, size, sector, sectors + 1) == 0);
  }
  // NT 3.x has it in the middle, of partitions with an odd number of sectors too.
  for (const u64 count : {u64{2048}, u64{2049}}) {
    CAPTURE(count);
    const u64 middle = start + count / 2 * 512;
    CHECK(said_of(middle, count * 512, 512, count) == 1);
    CHECK(said_of(middle, count * 512, 512, count - 1) == 1);
    CHECK(said_of(middle, count * 512, 512, count / 2) == 0);
  }
}

TEST_CASE("no copy of a boot sector is looked for before its volume") {
  std::vector<std::byte> bytes(65536);
  NtfsImage image{{.clusters = 256, .records = 60}};
  const auto volume = image.build();
  std::copy_n(volume.begin(), 512, bytes.begin() + 65536 - 4096);
  const core::MemoryImage source{bytes};
  core::Findings findings;
  // 4096 bytes before the end of a volume of 2048 is what lies before it.
  CHECK_FALSE(ntfs::Volume::open(source, 65536 - 2048, 2048, findings));
  CHECK(findings.count("boot-sector") == 0);
}

TEST_CASE("each state is told apart") {
  NtfsImage image{{.clusters = 256, .records = 100}};
  const u64 folder = image.add_directory(u"folder");
  image.add_file(u"live", "1", folder);
  image.add({.names = {{.parent = folder, .name = u"gone"}}, .in_use = false, .sequence = 2});
  const u64 old = image.add({.names = {{.parent = folder, .name = u"old folder"}},
                             .directory = true,
                             .in_use = false,
                             .sequence = 4});
  image.add({.names = {{.parent = old, .name = u"kid", .parent_sequence = 3}},
             .in_use = false,
             .sequence = 2});
  image.add({.names = {{.parent = 90, .name = u"lost", .parent_sequence = 7}}, .listed = false});
  image.add({.names = {{.parent = folder, .name = u"unlisted"}}, .listed = false});
  const u64 stale = image.add_file(u"stale", "s", folder);
  image.edit_record(stale, [](ByteWriter& w) { w.patch<u16>(0x10, 9); });
  image.add({.streams = {{.content = "no name"}}});
  const u64 linked = image.add_file(u"link one", "l", folder);
  image.file(linked).names.push_back({.parent = 5, .name = u"link two"});
  image.add({.names = {{.parent = folder, .name = u"LONGNA~1", .name_space = 2},
                       {.parent = folder, .name = u"long name", .name_space = 1}}});
  // Another file has had the record of the folder since, or has that of the file's base now.
  image.add({.names = {{.parent = folder, .name = u"of another folder", .parent_sequence = 7}},
             .in_use = false,
             .sequence = 2});
  image.add({.names = {{.parent = folder, .name = u"left over"}},
             .listed = false,
             .base_record = linked,
             .base_sequence = 5});
  const auto bytes = image.build();
  const auto seen = snapshot_of(bytes, {.states = tests::all_states});
  CHECK(seen.state(fmt::format("/<parent {}-7>/of another folder", folder)) == State::deleted);
  CHECK(seen.find("/folder/left over") != nullptr);
  CHECK(seen.state("/folder/live") == State::live);
  CHECK(seen.state("/folder/gone") == State::deleted);
  CHECK(seen.state("/folder/old folder/kid") == State::deleted);
  CHECK(seen.state("/<parent 90-7>/lost") == State::detached);
  CHECK(seen.state("/folder/unlisted") == State::unreachable);
  CHECK(seen.state("/") == State::live);
  CHECK(seen.state("/link two") == State::live);
  CHECK(seen.find("/link two")->links == 2);
  CHECK(seen.find("/folder/link one")->record == linked);
  CHECK(seen.find("/folder/long name")->short_name == "LONGNA~1");
  CHECK(seen.find("/folder/LONGNA~1") == nullptr);
  // The entry is stale, and the record that has the name is not reached by it.
  CHECK(seen.rows.count("/folder/stale") == 2);
  const auto unnamed = std::count_if(seen.rows.begin(), seen.rows.end(), [](const auto& row) {
    return row.second.state == State::unnamed;
  });
  CHECK(unnamed == 1);
}

TEST_CASE("names in slack are found, those still listed are not") {
  NtfsImage image{{.clusters = 256, .records = 120}};
  const u64 folder = image.add_directory(u"folder");
  for (int i = 1; i < 60; ++i) image.add_file(numbered(i), "x", folder);
  // The last used entry moves into slack: the node ends before it.
  image.edit_index(folder, 0, [](ByteWriter& w) {
    u64 at = 0x18 + *core::load<u32>(w.view(), 0x18);
    u64 previous = at;
    for (u64 next = at; (*core::load<u16>(w.view(), next + 12) & 2) == 0;
         next += *core::load<u16>(w.view(), next + 8))
      previous = next;
    const u64 end = previous + *core::load<u16>(w.view(), previous + 8);
    w.patch<u32>(0x1c, static_cast<u32>(previous - 0x18 + 0x10));
    // The entry's name goes behind the new end, with a reference to a file that is gone.
    const auto entry = w.view().subspan(previous, end - previous);
    const std::vector<std::byte> copy{entry.begin(), entry.end()};
    w.patch<u64>(previous, 0).patch<u64>(previous + 8, 0x0000'0002'0000'0010);
    w.patch_bytes(previous + 0x10, copy);
    w.patch<u64>(previous + 0x10, 119 | u64{5} << 48);
  });
  const auto bytes = image.build();
  const auto seen = snapshot_of(bytes, {.states = tests::all_states, .slack = true});
  const auto slack = std::count_if(seen.rows.begin(), seen.rows.end(), [](const auto& row) {
    return row.second.state == State::slack;
  });
  CHECK(slack == 1);
}

TEST_CASE("a file with extension records has all its names, streams and extents") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 place = image.allocate(8);
  const u64 file = image.add({.names = {{.parent = 5, .name = u"big"}}});
  const u64 more = image.add({.listed = false, .base_record = file, .base_sequence = 1});
  const auto make_part = [](u64 lowest, u64 lcn) {
    ByteWriter out;
    out.write_bytes(fixtures::make_non_resident(0x80, 7, {{lcn, 2}}, lowest == 0 ? 16384 : 0, 4096,
                                                u"", 0, lowest));
    // The first part has the sizes of the whole stream.
    return out.patch<u64>(0x28, lowest == 0 ? 16384 : 0).bytes();
  };
  image.file(file).raw_attributes.push_back(make_part(0, place));
  image.file(more).raw_attributes.push_back(make_part(2, place + 6));
  ByteWriter list;
  struct Part {
    u32 type;
    u64 lowest;
    u64 record;
    u16 id;
  };
  for (const auto& part : {Part{0x10, 0, file, 0}, Part{0x30, 0, file, 1}, Part{0x80, 2, more, 7},
                           Part{0x80, 0, file, 7}}) {
    list.write_u32(part.type).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(part.lowest);
    list.write_u64(part.record | u64{1} << 48).write_u16(part.id).align(8);
  }
  SECTION("with a resident list") {
    image.file(file).raw_attributes.push_back(fixtures::make_resident(0x20, 6, list.view()));
    const auto bytes = image.build();
    const auto seen = snapshot_of(bytes);
    CHECK_FALSE(seen.warns());
    REQUIRE(seen.find("/big")->extents.size() == 2);
    CHECK(static_cast<u64>(*seen.find("/big")->extents[1].lcn) == place + 6);
  }
  SECTION("with a list outside the record") {
    const u64 where = image.allocate(1);
    image.file(file).raw_attributes.push_back(
        fixtures::make_non_resident(0x20, 6, {{where, 1}}, list.size(), 4096));
    auto bytes = image.build();
    std::memcpy(bytes.data() + where * 4096, list.view().data(), list.size());
    const auto seen = snapshot_of(bytes);
    CHECK_FALSE(seen.warns());
    CHECK(seen.find("/big")->extents.size() == 2);
  }
  SECTION("that the list does not know: told, and not merged") {
    const auto bytes = image.build();
    const auto seen = snapshot_of(bytes, {.states = tests::all_states});
    CHECK(seen.find("/big")->extents.size() == 1);
  }
}

TEST_CASE("an extracted $MFT gives names by their parents") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 folder = image.add_directory(u"folder");
  image.add_file(u"file", "1", folder);
  // A list outside of $MFT is out of reach, which is not damage.
  const u64 big = image.add(
      {.names = {{.parent = folder, .name = u"big"}}, .streams = {{.content = "content"}}});
  image.add({.names = {{.parent = folder, .name = u"second name"}},
             .base_record = big,
             .base_sequence = 1});
  image.file(big).raw_attributes.push_back(
      fixtures::make_non_resident(0x20, 6, {{image.allocate(1), 1}}, 64, 4096));
  const auto bytes = image.build();
  const auto mft = core::ByteView{bytes}.subspan(image.record_offset(0), image.mft_size());
  const auto seen = snapshot_of(mft, {.mft_only = true});
  REQUIRE(seen.opened);
  CHECK(seen.find("/folder/file") != nullptr);
  CHECK(seen.find("/folder/second name")->record == big);
  CHECK(seen.findings.count("mft-only") == 1);
  CHECK_FALSE(seen.warns());
  // Record 0 says how much there was.
  const auto half = snapshot_of(mft.first(mft.size() / 2), {.mft_only = true});
  CHECK(half.findings.count("image-truncated") == 1);
}

TEST_CASE("of what lies in the clusters of $MFTMirr four records are copies") {
  NtfsImage image{{.cluster_size = 8192, .clusters = 128, .records = 60}};
  const auto sound = image.build();
  const auto root = core::ByteView{sound}.subspan(image.record_offset(5), 1024);
  for (const u64 copy : {u64{3}, u64{4}}) {
    CAPTURE(copy);
    auto bytes = sound;
    std::ranges::copy(
        root, bytes.begin() + static_cast<std::ptrdiff_t>(image.mirror_lcn() * 8192 + copy * 1024));
    CHECK(snapshot_of(bytes).findings.count("mft-mirror") == (copy < 4 ? 1 : 0));
  }
}

TEST_CASE("one file can be asked for") {
  NtfsImage image{{.clusters = 256, .records = 120}};
  const u64 folder = image.add_directory(u"folder");
  for (int i = 1; i < 60; ++i) image.add_file(numbered(i), "x", folder);
  const auto bytes = image.build();
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  REQUIRE(volume);
  const auto file = volume->read_file(folder + 1);
  REQUIRE(file);
  CHECK(to_utf8(file->facts.names[0].name) == "file 00001");
  CHECK_FALSE(volume->read_file(5000));
  CHECK(findings.empty());
}

ByteWriter mbr(std::vector<std::array<u64, 3>> entries) {
  ByteWriter out;
  out.pad_to(0x1be);
  for (const auto& [type, start, count] : entries)
    out.write_u32(0).write_u32(type).write_u32(start).write_u32(count);
  out.pad_to(0x1fe).write_u16(0xaa55);
  return out;
}

ByteWriter ntfs_sector() {
  ByteWriter out;
  return out.write_zeros(3).write_text("NTFS    ").pad_to(512);
}

TEST_CASE("primary and logical partitions are found, and loops end") {
  ByteWriter disk;
  disk.pad_to(400 * 512);
  disk.patch_bytes(0, mbr({{0x07, 10, 20}, {0x05, 100, 200}}).view());
  disk.patch_bytes(10 * 512, ntfs_sector().view());
  disk.patch_bytes(100 * 512, mbr({{0x07, 2, 10}, {0x05, 50, 50}}).view());
  disk.patch_bytes(102 * 512, ntfs_sector().view());
  disk.patch_bytes(150 * 512, mbr({{0x07, 3, 10}, {0x05, 0, 50}}).view());
  const core::MemoryImage image{disk.view()};
  core::Findings findings;
  const auto found = ntfs::read_disk(image, findings);
  CHECK(found.kind == ntfs::DiskKind::mbr);
  REQUIRE(found.partitions.size() == 3);
  CHECK(found.partitions[0].kind == core::FileKind::ntfs_volume);
  CHECK(found.partitions[1].number == 5);
  CHECK(found.partitions[1].offset == 102 * 512);
  CHECK(found.partitions[2].offset == 153 * 512);
  CHECK(findings.count("partition-chain") == 1);
}

TEST_CASE("a GUID partition table is read in both sector sizes, and from its copy") {
  const u64 sector = GENERATE(u64{512}, u64{4096});
  const bool damaged = GENERATE(false, true);
  CAPTURE(sector, damaged);
  ByteWriter entries;
  entries.write_u32(0xebd0a0a2).write_u16(0xb9e5).write_u16(0x4433);
  entries.write_u64(0xc79926b7b668c087).write_zeros(16).write_u64(8).write_u64(15).write_u64(0);
  for (const char16_t c : std::u16string_view{u"data"}) entries.write_u16(c);
  entries.pad_to(128 * 4);
  const auto header = [&](u64 entries_lba) {
    ByteWriter out;
    out.write_text("EFI PART").write_u32(0x10000).write_u32(92).write_u32(0).write_u32(0);
    out.pad_to(72).write_u64(entries_lba).write_u32(4).write_u32(128);
    out.write_u32(core::crc32(entries.view()));
    out.patch<u32>(16, core::crc32(out.view()));
    return out;
  };
  ByteWriter disk;
  disk.pad_to(32 * sector);
  disk.patch_bytes(0, mbr({{0xee, 1, 31}}).view());
  disk.patch_bytes(sector, header(2).view());
  disk.patch_bytes(2 * sector, entries.view());
  disk.patch_bytes(8 * sector, ntfs_sector().view());
  disk.patch_bytes(30 * sector, entries.view());
  disk.patch_bytes(31 * sector, header(30).view());
  if (damaged) disk.patch<u8>(sector + 20, 0x55).patch<u8>(sector + 72, 0x55);
  const core::MemoryImage image{disk.view()};
  core::Findings findings;
  const auto found = ntfs::read_disk(image, findings);
  CHECK(found.kind == ntfs::DiskKind::gpt);
  CHECK(found.sector_size == sector);
  REQUIRE(found.partitions.size() == 1);
  CHECK(found.partitions[0].offset == 8 * sector);
  CHECK(found.partitions[0].size == 8 * sector);
  CHECK(found.partitions[0].name == "data");
  CHECK(found.partitions[0].kind == core::FileKind::ntfs_volume);
  CHECK((findings.count("gpt-damaged") > 0) == damaged);
}

TEST_CASE("sums and products of file numbers do not wrap") {
  CHECK_FALSE(core::checked_add(~u64{0}, 1));
  CHECK_FALSE(core::checked_multiply(u64{1} << 32, u64{1} << 32));
  CHECK(core::saturating_add(~u64{0}, 5) == ~u64{0});
  CHECK(core::checked_multiply(3, 4) == 12u);
}

}  // namespace
}  // namespace coldtrace
