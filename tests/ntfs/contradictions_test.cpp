#include <catch2/catch.hpp>

#include "fixtures/ntfs_image.hpp"
#include "tests/ntfs/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using ntfs::State;
using tests::Seen;
using tests::snapshot_of;

// The offset in a record of the first attribute of a type.
u64 attribute_at(core::ByteView record, u32 type) {
  u64 at = *core::load<u16>(record, 0x14);
  while (*core::load<u32>(record, at) != type) at += *core::load<u32>(record, at + 4);
  return at;
}

// An attribute list that names records, each for a $FILE_NAME.
std::vector<std::byte> list_of(std::initializer_list<u64> records) {
  ByteWriter list;
  for (const u64 record : records) {
    list.write_u32(0x30).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(0);
    list.write_u64(record | u64{1} << 48).write_u16(1).align(8);
  }
  return fixtures::make_resident(0x20, 30, list.view());
}

std::u16string numbered(std::u16string name, int number) {
  for (int power = 100; power > 0; power /= 10)
    name += static_cast<char16_t>(u'0' + number / power % 10);
  return name;
}

// A directory that is listed in the root, with its $FILE_NAME in an extension record only.
u64 add_far_directory(NtfsImage& image) {
  const u64 directory = image.add_directory(u"far");
  const u64 extension = image.add({.names = {{.parent = 5, .name = u"far"}},
                                   .listed = false,
                                   .base_record = directory,
                                   .base_sequence = 1});
  image.file(directory).raw_attributes.push_back(list_of({directory, extension}));
  // What coldtrace does not know stands where the name was.
  image.edit_record(directory,
                    [](ByteWriter& w) { w.patch<u32>(attribute_at(w.view(), 0x30), 0xf0); });
  return directory;
}

TEST_CASE("a directory whose name lies in an extension record is on the paths of its children") {
  NtfsImage image{{.clusters = 256, .records = 80}};
  const u64 far = add_far_directory(image);
  image.add_file(u"live", "1", far);
  image.add({.names = {{.parent = far, .name = u"gone"}}, .in_use = false, .sequence = 2});
  image.add({.names = {{.parent = far, .name = u"unlisted"}}, .listed = false});
  const u64 below =
      image.add({.names = {{.parent = far, .name = u"below"}}, .directory = true, .listed = false});
  image.add({.names = {{.parent = below, .name = u"kid"}}, .in_use = false, .sequence = 2});
  const auto bytes = image.build();
  const auto seen = snapshot_of(bytes, {.states = tests::all_states});
  const auto state = [&](const char* path) {
    CAPTURE(path);
    const auto* row = seen.find(path);
    REQUIRE(row != nullptr);
    return row->state;
  };
  CHECK(state("/far/live") == State::live);
  CHECK(state("/far/gone") == State::deleted);
  CHECK(state("/far/unlisted") == State::unreachable);
  CHECK(state("/far/below/kid") == State::deleted);
  CHECK(seen.findings.count("file-orphan") == 0);

  // One file asked for is the same file.
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  const auto file = volume->read_file(far);
  REQUIRE(file);
  REQUIRE(file->facts.names.size() == 1);
  CHECK(to_utf8(file->facts.names[0].name) == "far");
  CHECK_FALSE(file->assembly.extension_missing);
  const auto entries = volume->read_directory(far, findings);
  REQUIRE(entries);
  CHECK(entries->size() == 1);
}

TEST_CASE("a file asked for alone is put together like all files at once") {
  NtfsImage image{{.clusters = 256, .records = 80}};
  const auto add_extended = [&](std::u16string name, u16 claimed_sequence, bool listed) {
    const u64 file = image.add({.names = {{.parent = 5, .name = name}}});
    const u64 extension = image.add({.names = {{.parent = 5, .name = name + u" too"}},
                                     .listed = false,
                                     .base_record = file,
                                     .base_sequence = claimed_sequence});
    image.file(file).raw_attributes.push_back(listed ? list_of({file, extension})
                                                     : list_of({file}));
    return file;
  };
  const std::vector<u64> files{add_extended(u"sound", 1, true), add_extended(u"stranger", 7, true),
                               add_extended(u"unlisted", 1, false)};
  const auto bytes = image.build();
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  const auto snapshot = ntfs::Snapshot::take(*volume, {}, findings);
  const std::vector<std::size_t> names{2, 1, 1};
  for (std::size_t i = 0; i < files.size(); ++i) {
    CAPTURE(i);
    const auto file = volume->read_file(files[i]);
    REQUIRE(file);
    ntfs::RecordFacts facts;
    const auto assembly = snapshot.records().assemble(source, volume->mft(), files[i], facts);
    CHECK(file->facts.names.size() == names[i]);
    CHECK(facts.names.size() == names[i]);
    CHECK(facts.attributes.size() == file->facts.attributes.size());
    CHECK(assembly.extension_missing == (i == 1));
    CHECK(file->assembly.extension_missing == (i == 1));
  }
}

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
      {"a file of a directory that is gone", "file-orphan",
       [&] {
         image.add(
             {.names = {{.parent = 90, .name = u"o", .parent_sequence = 7}}, .listed = false});
       }},
      {"a stale entry", "entry-stale",
       [&] {
         const u64 file = image.add_file(u"stale", "s", folder);
         image.edit_record(file, [](ByteWriter& w) { w.patch<u16>(0x10, 9); });
       }},
      {"a record without a name", "file-nameless",
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
  for (const auto state : {State::live, State::deleted, State::stale, State::nameless}) {
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

TEST_CASE("the four records that NTFS keeps without names are no finding") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  for (u64 record = 12; record < 16; ++record) image.add_reserved(record);
  const auto seen = snapshot_of(image.build(), {.states = tests::all_states});
  CHECK(std::count_if(seen.rows.begin(), seen.rows.end(),
                      [](const auto& row) { return row.second.state == State::nameless; }) == 4);
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

// One stream that is bent after it was built; the rest of the volume is sound.
struct SizeRow {
  const char* why;
  const char* code;
  std::vector<fixtures::NtfsRun> runs;
  u64 size;
  u16 flags;
  std::function<void(ByteWriter&, u64)> bend;  // the record, and where $DATA is in it
};

TEST_CASE("sizes of a stream agree with its clusters, or there is a finding") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 c = image.allocate(32);
  const auto nothing = [](ByteWriter&, u64) {};
  const auto put = [](u64 field, u64 value) {
    return [=](ByteWriter& w, u64 at) { w.patch<u64>(at + field, value); };
  };
  const std::vector<SizeRow> table{
      {"plain", nullptr, {{c, 3}}, 10000, 0, nothing},
      {"preallocated", nullptr, {{c, 8}}, 100, 0, nothing},
      {"valid to its middle", nullptr, {{c, 3}}, 10000, 0, put(0x38, 5000)},
      {"empty, with no clusters", nullptr, {}, 0, 0, nothing},
      {"sparse", nullptr, {{c, 1}, {std::nullopt, 15}}, 60000, 0x8000, nothing},
      {"sparse, one hole", nullptr, {{std::nullopt, 4096}}, 10'000'000, 0x8000, put(0x38, 0)},
      {"a hole without the sparse flag, like $BadClus",
       nullptr,
       {{std::nullopt, 256}},
       1'048'576,
       0,
       put(0x38, 0)},
      {"compressed", nullptr, {{c, 7}, {std::nullopt, 9}, {c + 8, 16}}, 130000, 1, nothing},
      {"encrypted, valid to the end of its last sector",
       nullptr,
       {{c, 1}},
       1000,
       0x4000,
       put(0x38, 1024)},
      {"longer than what is mapped",
       "stream-gap",
       {{c, 3}},
       10000,
       0,
       [](ByteWriter& w, u64 at) {
         w.patch<u64>(at + 0x28, 8'000'000).patch<u64>(at + 0x30, 8'000'000);
       }},
      {"sparse, longer than what is mapped",
       "stream-gap",
       {{c, 1}, {std::nullopt, 15}},
       60000,
       0x8000,
       [](ByteWriter& w, u64 at) {
         w.patch<u64>(at + 0x28, 8'000'000).patch<u64>(at + 0x30, 8'000'000);
       }},
      {"longer than what is allocated", "stream-size", {{c, 3}}, 10000, 0, put(0x28, 8192)},
      {"more valid than it has", "stream-valid", {{c, 3}}, 10000, 0, put(0x38, 10001)},
      {"more valid than encryption pads", "stream-valid", {{c, 1}}, 1000, 0x4000, put(0x38, 1600)},
      {"nothing allocated and three clusters", "stream-allocated", {{c, 3}}, 0, 0, put(0x28, 0)},
      {"more allocated than mapped", "stream-allocated", {{c, 3}}, 100, 0, put(0x28, 0x10000)},
      {"compressed, with other clusters than it says",
       "stream-allocated",
       {{c, 7}, {std::nullopt, 9}},
       60000,
       1,
       put(0x40, 0x10000)},
  };
  for (const auto& row : table) {
    CAPTURE(row.why);
    NtfsImage volume = image;
    ByteWriter stream;
    if (row.runs.empty()) {
      stream.write_bytes(fixtures::make_non_resident(0x80, 9, {{c, 1}}, 0, 4096));
      // No clusters: the highest VCN is -1, and the run list is its end.
      stream.patch<u64>(0x18, ~u64{0}).patch<u64>(0x28, 0).patch<u8>(0x40, 0);
    } else {
      stream.write_bytes(
          fixtures::make_non_resident(0x80, 9, row.runs, row.size, 4096, u"", row.flags));
    }
    const u64 file = volume.add({.names = {{.parent = 5, .name = u"file", .size = row.size}}});
    volume.file(file).raw_attributes.push_back(stream.bytes());
    volume.edit_record(file, [&](ByteWriter& w) { row.bend(w, attribute_at(w.view(), 0x80)); });
    const auto seen = snapshot_of(volume.build(), {.states = tests::all_states});
    if (row.code == nullptr) {
      for (const auto& finding : seen.findings.all()) UNSCOPED_INFO(finding.text);
      CHECK(seen.findings.empty());
    } else {
      const auto warnings = std::ranges::count(seen.findings.all(), core::Severity::warning,
                                               &core::Finding::severity);
      CHECK(warnings == 1);
      CHECK(seen.findings.count(row.code) == 1);
      CHECK(seen.find("/file")->has(row.code));
    }
    // Of a deleted file half may be overwritten: no reason to warn.
    volume.file(file).in_use = false;
    CHECK_FALSE(snapshot_of(volume.build(), {.states = tests::all_states}).warns());
  }
}

TEST_CASE("clusters of two files in use are told of both") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 c = image.allocate(40);
  const auto add = [&](std::u16string name, std::vector<fixtures::NtfsRun> runs,
                       bool in_use = true) {
    u64 clusters = 0;
    for (const auto& run : runs) clusters += run.clusters;
    return image.add({.names = {{.parent = 5, .name = name, .size = clusters * 4096}},
                      .streams = {{.runs = runs, .size = clusters * 4096}},
                      .in_use = in_use});
  };
  add(u"alone", {{c, 4}});
  add(u"next to it", {{c + 4, 4}});
  add(u"deleted", {{c, 8}}, false);
  SECTION("healthy") {
    CHECK_FALSE(snapshot_of(image.build()).warns());
  }
  SECTION("two, in part") {
    const u64 first = add(u"first", {{c + 10, 8}});
    const u64 second = add(u"second", {{c + 30, 1}, {c + 15, 5}});
    const auto bytes = image.build();
    for (const unsigned jobs : {1U, 3U}) {
      const auto seen = snapshot_of(bytes, {.jobs = jobs});
      CHECK(seen.findings.count("cluster-shared") == 2);
      CHECK(seen.find("/first")->texts ==
            std::vector{"3 clusters belong to other files in use as well, first to record " +
                        std::to_string(second)});
      CHECK(seen.find("/second")->texts ==
            std::vector{"3 clusters belong to other files in use as well, first to record " +
                        std::to_string(first)});
      CHECK(seen.find("/alone")->codes.empty());
    }
  }
  SECTION("three, one inside the other") {
    add(u"large", {{c + 10, 20}});
    add(u"inside", {{c + 12, 2}});
    add(u"inside too", {{c + 20, 2}, {c + 13, 1}});
    const auto seen = snapshot_of(image.build());
    CHECK(seen.findings.count("cluster-shared") == 3);
    CHECK(seen.find("/large")->texts[0].substr(0, 10) == "4 clusters");
    CHECK(seen.find("/inside too")->texts[0].substr(0, 10) == "3 clusters");
  }
  SECTION("one file, twice") {
    add(u"twice", {{c + 10, 4}, {c + 12, 4}});
    const auto seen = snapshot_of(image.build());
    CHECK(seen.findings.count("cluster-shared") == 1);
  }
  SECTION("of the file system itself") {
    add(u"over $MFT", {{image.mft_lcn() + 1, 1}});
    const auto seen = snapshot_of(image.build());
    CHECK(seen.find("/$MFT")->has("cluster-shared"));
  }
}

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
      {"a VCN that is no buffer's", "index-vcn",
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

constexpr u64 second = 10'000'000;
constexpr u64 day = 86'400 * second;
constexpr u64 year_26142 = 8'963'600 * day;
constexpr u64 made = 133'536'836'961'234'567;  // a day in 2024, with a fraction of a second

fixtures::NtfsTimes all_at(u64 ticks) {
  return {ticks, ticks, ticks, ticks};
}

// The times of one file among others that are as Windows writes them.
struct TimesRow {
  const char* why;
  std::string_view code;  // empty: nothing shows it
  fixtures::NtfsTimes information;
  fixtures::NtfsTimes named;
  fixtures::NtfsTimes index;
};

TEST_CASE("patterns of forged times show, and usual ones do not") {
  const u64 old = made - 3000 * day;
  const u64 old_second = old / second * second;
  const auto row = GENERATE_COPY(values<TimesRow>({
      {"as created", "", all_at(made), all_at(made), all_at(made)},
      {"modified and read later",
       "",
       {made, made + day, made + day, made + 2 * day},
       all_at(made),
       {made, made + day, made + day, made + 2 * day}},
      {"copied: modified before it was created",
       "",
       {made, old, made, made},
       all_at(made),
       {made, old, made, made}},
      {"renamed: the name has the times of then",
       "",
       {made, made + day, made + day, made},
       {made, made + day, made + day, made},
       {made, made + day, made + day, made}},
      {"1: set back by a program, to 100 ns",
       "time-set-back",
       {old, old, made, old},
       all_at(made),
       {old, old, made, old}},
      {"2: set back to a whole second",
       "time-whole-seconds",
       {old_second, old_second, made, old_second},
       all_at(made),
       {old_second, old_second, made, old_second}},
      {"3: only the creation set to a whole second",
       "time-whole-seconds",
       {made / second * second + second, made + day, made + day, made + day},
       all_at(made),
       {made / second * second + second, made + day, made + day, made + day}},
      {"4: set to whole seconds, then renamed, so that the name agrees", "time-whole-seconds",
       all_at(old_second), all_at(old_second), all_at(old_second)},
      {"5: set on the disk, where the directory does not follow",
       "time-index-differs",
       {made + day, made + day, made + day, made + day},
       all_at(made),
       all_at(made)},
      {"6: three sets, three years", "time-index-differs", all_at(made), all_at(made - 365 * day),
       all_at(made + 365 * day)},
      {"7: the name's time set on the disk, to a year that cannot be", "time-implausible",
       all_at(made), all_at(year_26142), all_at(made)},
      {"8: the name's time set forward on the disk", "time-set-back", all_at(made),
       all_at(made + 100 * day), all_at(made)},
      {"9: all three sets set back together", "time-order", all_at(old), all_at(old), all_at(old)},
      {"10: set forward by a program", "time-set-forward", all_at(made + day + 1), all_at(made),
       all_at(made + day + 1)},
      {"11: zeroed", "time-not-set", all_at(0), all_at(made), all_at(0)},
  }));
  CAPTURE(row.why);
  NtfsImage image{{.clusters = 512, .records = 400}};
  const auto add_many = [&](std::u16string name, u64 from) {
    const u64 folder = image.add_directory(name);
    for (int i = 0; i < 80; ++i) {
      const auto times = all_at(from + static_cast<u64>(i));
      image.add({.names = {{.parent = folder, .name = numbered(u"file ", i), .times = times}},
                 .times = times});
    }
  };
  add_many(u"before", made);
  const u64 file = image.add(
      {.names = {{.parent = 5, .name = u"file", .times = row.index}}, .times = row.information});
  image.edit_record(file, [&](ByteWriter& w) {
    const u64 at = attribute_at(w.view(), 0x30) + 0x18 + 8;
    w.patch<u64>(at, row.named.created).patch<u64>(at + 8, row.named.modified);
    w.patch<u64>(at + 16, row.named.changed).patch<u64>(at + 24, row.named.accessed);
  });
  add_many(u"later", made + 200);
  const auto seen = snapshot_of(image.build(), {.states = tests::all_states});
  CHECK_FALSE(seen.warns());
  const auto* found = seen.find("/file");
  REQUIRE(found != nullptr);
  if (row.code.empty()) {
    CHECK(found->codes.empty());
  } else {
    CHECK(found->has(row.code));
  }
  // A name's impossible year says nothing of $STANDARD_INFORMATION.
  if (row.code == "time-implausible") CHECK(found->codes.size() == 1);
  for (const auto& [path, other] : seen.rows)
    if (path != "/file") CHECK(other.codes.empty());
}

TEST_CASE("whole seconds are no finding where most files have them") {
  NtfsImage image{{.clusters = 256, .records = 100}};
  for (int i = 0; i < 50; ++i)
    image.add({.names = {{.parent = 5,
                          .name = numbered(u"copied ", i),
                          .times = all_at(made / second * second)}},
               .times = all_at(made / second * second)});
  CHECK(snapshot_of(image.build(), {.states = tests::all_states}).findings.empty());
}

}  // namespace
}  // namespace coldtrace
