#include <catch2/catch.hpp>

#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/volume.hpp"
#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/image_edits.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using tests::attribute_at;
using tests::numbered;
using tests::snapshot_of;

// A file with many runs, and directories with many files.
struct Repeats {
  static constexpr u64 runs = 160;
  NtfsImage image{{.clusters = 512, .records = 500}};
  u64 file = 0;
  std::vector<u64> folders;

  Repeats() {
    std::vector<fixtures::NtfsRun> places;
    const u64 first = image.allocate(2 * runs);
    for (u64 i = 0; i < runs; ++i) places.push_back({first + 2 * i, 1});
    file = image.add({.names = {{.parent = 5, .name = u"runs", .size = runs * 4096}},
                      .streams = {{.runs = places, .size = runs * 4096}}});
    for (int i = 0; i < 4; ++i) {
      const u64 folder = folders.emplace_back(image.add_directory(numbered(u"folder", i)));
      for (int name = 0; name < 100; ++name) image.add_file(numbered(u"name", name), "x", folder);
    }
  }

  static u64 count_runs(const tests::Seen& seen) {
    u64 count = 0;
    for (const auto& [path, row] : seen.rows) count += row.extents.size();
    return count;
  }
};

TEST_CASE("an index that names one file again and again does not multiply its runs") {
  Repeats sound;
  const u64 once = Repeats::count_runs(snapshot_of(sound.image.build()));
  Repeats forged;
  const auto point_at_file = [&](ByteWriter& buffer) {
    const u64 end = 0x18 + *core::load<u32>(buffer.view(), 0x1c);
    for (u64 at = 0x18 + *core::load<u32>(buffer.view(), 0x18); at < end;
         at += *core::load<u16>(buffer.view(), at + 8))
      if (*core::load<u16>(buffer.view(), at + 10) > 0)
        buffer.patch<u64>(at, forged.file | u64{1} << 48);
  };
  for (const u64 folder : forged.folders)
    for (u64 buffer = 0; buffer < 3; ++buffer)
      forged.image.edit_index(folder, buffer, point_at_file);
  const auto bytes = forged.image.build();
  const auto seen = snapshot_of(bytes);
  CHECK(seen.findings.count("streams-limit") > 0);
  CHECK(seen.findings.count("name-mismatch") > 200);
  // Runs take some 64 bytes as text.
  CHECK(Repeats::count_runs(seen) < once + bytes.size() / 64 + 4096);
  CHECK(Repeats::count_runs(seen) > once);
  // A name is not lost with the streams.
  CHECK(seen.find("/folder003/name000")->record == forged.file);
}

TEST_CASE("hard links repeat the streams of their file") {
  NtfsImage image;
  const u64 place = image.allocate(4);
  image.add({.names = {{.parent = 5, .name = u"a", .size = 8192},
                       {.parent = 5, .name = u"b", .size = 8192}},
             .streams = {{.runs = {{place, 1}, {place + 2, 1}}, .size = 8192}}});
  const auto seen = snapshot_of(image.build());
  CHECK(seen.findings.empty());
  CHECK(seen.find("/a")->extents.size() == 2);
  CHECK(seen.find("/b")->extents.size() == 2);
}

TEST_CASE("directories that claim more index buffers than the image has room for are cut") {
  constexpr int directories = 24;
  NtfsImage image;
  const u64 clusters = image.options().clusters;
  for (int i = 0; i < directories; ++i) {
    const u64 record = image.add_directory(numbered(u"folder", i));
    image.file(record).raw_attributes.push_back(
        fixtures::make_non_resident(0xa0, 9, {{image.mft_lcn(), 1}, {std::nullopt, clusters - 1}},
                                    clusters * 4096, 4096, u"$I30", 0x8000));
    image.file(record).raw_attributes.push_back(
        fixtures::make_resident(0xb0, 10, ByteWriter{}.write_u64(0).view(), u"$I30"));
    image.edit_record(record, [](ByteWriter& w) {
      const u64 root = attribute_at(w.view(), 0x90);
      w.patch<u32>(root + *core::load<u16>(w.view(), root + 0x14) + 8, 512);
    });
  }
  const auto bytes = image.build();
  // Together more than one a sector, and more than small images are given.
  REQUIRE(directories * (clusters * 4096 / 512) > bytes.size() / 512 + 65536);
  const auto seen = snapshot_of(bytes);
  CHECK(seen.findings.count("index-limit") > 0);
  CHECK(seen.rows.size() >= directories);
}

TEST_CASE("attribute lists in the same clusters are not read once for each of many files") {
  fixtures::NtfsImage image{{.clusters = 256, .records = 60}};
  constexpr u64 list_size = 256 * 1024;
  const u64 place = image.allocate(list_size / 4096);
  for (int i = 0; i < 6; ++i) {
    const u64 file = image.add_file(numbered(u"file ", i), "x");
    image.file(file).raw_attributes.push_back(
        fixtures::make_non_resident(0x20, 9, {{place, list_size / 4096}}, list_size, 4096));
  }
  const auto bytes = image.build();
  const auto seen = snapshot_of(bytes);
  const u64 read = bytes.size() / list_size;
  REQUIRE(read < 6);
  CHECK(seen.findings.count("attribute-list-limit") == 6 - read);
  CHECK(seen.find("/file 005")->has("attribute-list-limit"));
  CHECK_FALSE(seen.find("/file 000")->has("attribute-list-limit"));
}

TEST_CASE("records that memory has no room for are said to be missing, and the others are there") {
  constexpr std::size_t count = 9000;
  constexpr std::size_t first = 24;  // of them in $MFT
  NtfsImage image{{.clusters = 4096, .records = first + count}};
  const std::u16string long_name(240, u'n');
  for (std::size_t i = 0; i < count; ++i)
    image.add({.names = {{.parent = 5, .name = long_name}}, .listed = false});
  const auto bytes = image.build();
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  REQUIRE(volume);
  const auto scan = [&](u32 most_chunks, core::Findings& said) {
    std::vector<ntfs::Gap> gaps;
    return ntfs::RecordTable::scan(volume->image(), volume->mft(), 1, said, gaps, nullptr,
                                   most_chunks);
  };
  core::Findings all_said;
  const auto all = scan(ntfs::Arena::chunk_limit, all_said);
  CHECK(all_said.count("record-limit") == 0);
  core::Findings said;
  const auto table = scan(1, said);
  CHECK(table.memory() < all.memory());
  u64 missing = 0;
  for (u64 record = 0; record < all.size(); ++record) {
    if (all.has(record) && !table.has(record)) ++missing;
    if (!table.has(record)) continue;
    ntfs::RecordFacts facts;
    table.unpack(record, facts);
    ntfs::RecordFacts expected;
    all.unpack(record, expected);
    CHECK(facts.names.size() == expected.names.size());
  }
  CHECK(missing > 0);
  CHECK(missing < count);
  CHECK(said.count("record-limit") == missing);
}

}  // namespace
}  // namespace coldtrace
