#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using ntfs::State;
using tests::snapshot_of;

TEST_CASE("what is wrong with a volume does not depend on what is listed") {
  NtfsImage image{{.clusters = 256, .records = 100}};
  const u64 folder = image.add_directory(u"folder");
  image.add_file(u"live", "1", folder);
  image.add({.names = {{.parent = folder, .name = u"gone"}}, .in_use = false, .sequence = 2});
  struct Row {
    const char* why;
    const char* code;  // null: nothing is wrong
    std::function<void()> bend;
  };
  const std::vector<Row> table{
      {"healthy", nullptr, [] {}},
      {"a tree that nothing leads to", "file-unreachable",
       [&] {
         const u64 lost = image.add(
             {.names = {{.parent = 5, .name = u"lost"}}, .directory = true, .listed = false});
         image.add_file(u"kid", "k", lost);
       }},
      {"a file of a directory that is gone", "file-detached",
       [&] {
         image.add(
             {.names = {{.parent = 90, .name = u"o", .parent_sequence = 7}}, .listed = false});
       }},
      {"a stale entry", "entry-stale",
       [&] {
         const u64 file = image.add_file(u"stale", "s", folder);
         image.edit_record(file, [](ByteWriter& w) { w.patch<u16>(0x10, 9); });
       }},
      {"a record without a name", "file-unnamed",
       [&] { image.add({.streams = {{.content = "no name"}}}); }},
      {"a stream of an unlisted file outside the volume", "run-outside-volume",
       [&] {
         image.add({.names = {{.parent = folder, .name = u"far"}},
                    .streams = {{.runs = {{u64{1} << 30, 1}}, .size = 10}},
                    .listed = false});
       }},
  };
  const auto index = GENERATE(range(0, 6));
  const auto& row = table[static_cast<std::size_t>(index)];
  CAPTURE(row.why);
  row.bend();
  const auto bytes = image.build();
  const auto all = snapshot_of(bytes, {.states = tests::all_states});
  CHECK(all.warns() == (row.code != nullptr));
  if (row.code) CHECK(all.findings.count(row.code) > 0);
  for (const auto state : {State::live, State::deleted, State::stale, State::unnamed}) {
    const auto seen = snapshot_of(bytes, {.states = {state}});
    CHECK(seen.rows.size() < all.rows.size());
    REQUIRE(seen.findings.all().size() == all.findings.all().size());
    for (std::size_t i = 0; i < all.findings.all().size(); ++i) {
      CHECK(seen.findings.all()[i].code == all.findings.all()[i].code);
      CHECK(seen.findings.all()[i].count == all.findings.all()[i].count);
      CHECK(seen.findings.all()[i].severity == all.findings.all()[i].severity);
    }
  }
}

TEST_CASE("the four records that NTFS keeps without names are not a finding") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  for (u64 record = 12; record < 16; ++record) image.add_reserved(record);
  const auto seen = snapshot_of(image.build(), {.states = tests::all_states});
  CHECK(std::count_if(seen.rows.begin(), seen.rows.end(),
                      [](const auto& row) { return row.second.state == State::unnamed; }) == 4);
  CHECK(seen.findings.empty());
}

TEST_CASE("a stale entry says what became of the record") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 folder = image.add_directory(u"folder");
  const u64 reused = image.add_file(u"reused", "r", folder);
  image.edit_record(reused, [](ByteWriter& w) { w.patch<u16>(0x10, 9); });
  const u64 deleted = image.add_file(u"deleted", "d", folder);
  image.edit_record(deleted, [](ByteWriter& w) { w.patch<u16>(0x10, 2).patch<u16>(0x16, 0); });
  const u64 beyond = image.add_file(u"beyond", "b", folder);
  const u64 wiped = image.add_file(u"wiped", "w", folder);
  const u64 extends = image.add_file(u"extends", "e", folder);
  image.edit_record(extends, [&](ByteWriter& w) { w.patch<u64>(0x20, folder | u64{1} << 48); });
  image.edit_index(folder, 0, [&](ByteWriter& w) {
    for (u64 at = 0; at + 8 < w.size(); at += 8)
      if (*core::load<u64>(w.view(), at) == (beyond | u64{1} << 48))
        w.patch<u64>(at, u64{0xffff} | u64{1} << 48);
  });
  auto bytes = image.build();
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(image.record_offset(wiped)), 1024,
              std::byte{0});
  const auto seen = snapshot_of(bytes, {.states = {State::stale}});
  CHECK(seen.rows.size() == 5);
  CHECK(seen.findings.count("entry-stale") == 5);
  // The first by name is `beyond`; its entry starts with the reference that was put there.
  const auto& all = seen.findings.all();
  const auto stale = std::find_if(all.begin(), all.end(), [](const core::Finding& finding) {
    return finding.code == "entry-stale";
  });
  REQUIRE(stale->first_offset);
  CHECK(*core::load<u64>(bytes, *stale->first_offset) == (u64{0xffff} | u64{1} << 48));
  for (const auto& [path, words] :
       {std::pair{"/folder/reused", "holds another file now, with sequence 9"},
        std::pair{"/folder/deleted", "is not in use, and has sequence 2"},
        std::pair{"/folder/beyond", "$MFT has 60 records"},
        std::pair{"/folder/wiped", "was never used or cannot be read"},
        std::pair{"/folder/extends", "a part of another file"}}) {
    CAPTURE(path);
    const auto* row = seen.find(path);
    REQUIRE(row != nullptr);
    REQUIRE(row->texts.size() == 1);
    CHECK(row->texts[0].find(words) != std::string::npos);
  }
}

TEST_CASE("a name that the record has in another directory is told by both directories") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 folder = image.add_directory(u"folder");
  const u64 file = image.add_file(u"file", "f", folder);
  image.edit_record(file, [&](ByteWriter& w) {
    for (u64 at = 0x38; at + 8 < w.size(); at += 8)
      if (*core::load<u64>(w.view(), at) == (folder | u64{1} << 48))
        w.patch<u64>(at, 5 | u64{5} << 48);
  });
  const auto bytes = image.build();
  const auto seen = snapshot_of(bytes, {.states = tests::all_states});
  const auto* row = seen.find("/folder/file");
  REQUIRE(row != nullptr);
  CHECK(
      std::ranges::count(
          row->texts, fmt::format("\"file\" in directory {}-1, and by the record in directory 5-5",
                                  folder)) == 1);
}

}  // namespace
}  // namespace coldtrace
