#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/image_edits.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using ntfs::State;
using tests::numbered;
using tests::snapshot_of;

// A directory whose index has several buffers and leads to more directories with files.
struct Tree {
  NtfsImage image{{.clusters = 512, .records = 400}};
  u64 many = image.add_directory(u"many");
  Tree() {
    for (int i = 0; i < 120; ++i) {
      const u64 folder = image.add_directory(numbered(u"folder ", i), many);
      image.add_file(u"file", "x", folder);
      if (i % 3 == 0) image.add_file(u"other file", "y", folder);
    }
  }
};

TEST_CASE("one wrong value in the head of an index buffer hides no name") {
  Tree tree;
  const auto sound = snapshot_of(tree.image.build(), {.states = tests::all_states});
  REQUIRE(sound.findings.empty());
  struct Row {
    const char* why;
    const char* code;
    std::function<void(ByteWriter&)> bend;
  };
  const auto row = GENERATE(values<Row>({
      {"a VCN that is not a buffer's", "index-vcn",
       [](ByteWriter& w) { w.patch<u64>(0x10, 0x1'0000); }},
      {"the VCN of another buffer", "index-vcn", [](ByteWriter& w) { w.patch<u64>(0x10, 0); }},
      {"no magic", "index-buffer", [](ByteWriter& w) { w.patch<u32>(0, 0x58444e48); }},
      {"entries behind the buffer", "index-buffer",
       [](ByteWriter& w) { w.patch<u32>(0x18, 0xffff); }},
      {"more used than there is", "index-buffer",
       [](ByteWriter& w) { w.patch<u32>(0x1c, 0xfffff); }},
      {"an entry of length zero", "index-entry", [](ByteWriter& w) { w.patch<u16>(0x40 + 8, 0); }},
      {"an entry that is too long", "index-entry",
       [](ByteWriter& w) { w.patch<u16>(0x40 + 8, 0xfff8); }},
  }));
  CAPTURE(row.why);
  tree.image.edit_index(tree.many, 1, row.bend);
  const auto bytes = tree.image.build();
  const auto seen = snapshot_of(bytes, {.states = tests::all_states});
  CHECK(seen.warns());
  CHECK(seen.findings.count(row.code) > 0);
  CHECK(seen.rows.size() == sound.rows.size());
  for (const auto& [path, expected] : sound.rows) {
    CAPTURE(path);
    const auto* found = seen.find(path);
    REQUIRE(found != nullptr);
    CHECK(found->state == State::live);
    CHECK(found->record == expected.record);
    CHECK(seen.rows.count(path) == 1);
  }
}

TEST_CASE("a buffer of another directory gives this one no names") {
  Tree tree;
  const u64 more = tree.image.add_directory(u"more");
  for (int i = 0; i < 80; ++i) tree.image.add_file(numbered(u"other ", i), "x", more);
  auto bytes = tree.image.build();
  // What a write to the wrong place leaves: a buffer of /more in the index of /many.
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(tree.image.index_offset(more, 0));
  std::copy(from, from + 4096,
            bytes.begin() + static_cast<std::ptrdiff_t>(tree.image.index_offset(tree.many, 1)));
  const auto seen = snapshot_of(bytes, {.states = tests::all_states});
  CHECK(seen.findings.count("index-vcn") == 1);
  CHECK(seen.find("/many/other 000") == nullptr);
  CHECK(seen.find("/more/other 000")->state == State::live);
}

TEST_CASE("buffers that two directories claim are read as they are stored by each") {
  NtfsImage image{{.clusters = 512, .records = 400}};
  const u64 one = image.add_directory(u"one"), other = image.add_directory(u"other");
  for (const u64 directory : {one, other})
    for (int i = 0; i < 80; ++i) image.add_file(numbered(u"name ", i), "x", directory);
  auto bytes = image.build();
  // Where the runs of a directory's $INDEX_ALLOCATION are, between two fixups of its record.
  const auto runs_of = [&](u64 directory) {
    const u64 at = image.record_offset(directory);
    const auto record = core::ByteView{bytes}.subspan(at, 1024);
    const u64 attribute = tests::attribute_at(record, 0xa0);
    const u64 runs = attribute + *core::load<u16>(record, attribute + 0x20);
    REQUIRE((runs > 512 && runs + 8 < 1022));
    return bytes.begin() + static_cast<std::ptrdiff_t>(at + runs);
  };
  std::copy_n(runs_of(one), 8, runs_of(other));
  const auto seen = snapshot_of(bytes, {.states = tests::all_states});
  CHECK(seen.findings.count("cluster-shared") == 2);
  CHECK(seen.findings.count("index-torn") == 0);
  for (int i = 0; i < 80; ++i) CHECK(seen.find(fmt::format("/one/name {:03}", i)) != nullptr);
}

}  // namespace
}  // namespace coldtrace
