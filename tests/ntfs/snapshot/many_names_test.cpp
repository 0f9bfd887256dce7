#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/image_edits.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using fixtures::NtfsName;
using tests::snapshot_of;

// A file whose names lie in extension records, with a list of these in clusters of its own.
class Linked {
 public:
  Linked(NtfsImage& image, const std::vector<NtfsName>& names, u64 names_in_record)
      : list_lcn_{image.allocate(list_clusters)}, cluster_size_{image.options().cluster_size} {
    file = image.add({.streams = {}, .listed = false});
    for (std::size_t at = 0; at < names.size(); at += names_in_record) {
      const auto first = names.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = std::min<std::size_t>(names_in_record, names.size() - at);
      add_extension(image, {first, first + static_cast<std::ptrdiff_t>(count)});
    }
  }

  void add_extension(NtfsImage& image, std::vector<NtfsName> names,
                     std::vector<fixtures::NtfsStream> streams = {}) {
    extensions.push_back(image.add({.names = std::move(names),
                                    .streams = std::move(streams),
                                    .listed = false,
                                    .base_record = file,
                                    .base_sequence = 1}));
  }

  std::vector<std::byte> build(NtfsImage& image) {
    ByteWriter list;
    for (const u64 record : extensions) {
      list.write_u32(0x30).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(0);
      list.write_u64(record | u64{1} << 48).write_u16(1).align(8);
    }
    REQUIRE(list.size() <= list_clusters * cluster_size_);
    image.file(file).raw_attributes.push_back(fixtures::make_non_resident(
        0x20, 30, {{list_lcn_, list_clusters}}, list.size(), cluster_size_));
    auto bytes = image.build();
    std::ranges::copy(list.view(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(list_lcn_ * cluster_size_));
    return bytes;
  }

  u64 file = 0;
  std::vector<u64> extensions;

 private:
  static constexpr u64 list_clusters = 8;
  u64 list_lcn_;
  u64 cluster_size_;
};

TEST_CASE("links and short names of a file with many names in all name spaces are right") {
  NtfsImage image{{.clusters = 1024, .records = 300}};
  std::vector<u64> folders;
  for (int i = 0; i < 9; ++i) folders.push_back(image.add_directory(tests::numbered(u"dir", i)));
  std::vector<NtfsName> names;
  // Name spaces: 0 POSIX, 1 long, 2 short, 3 both.
  for (int i = 0; i < 900; ++i)
    names.push_back({.parent = folders[static_cast<std::size_t>(i % 9)],
                     .name = tests::numbered(u"name", i),
                     .name_space = static_cast<u8>(i % 9 < 3   ? i % 4
                                                   : i % 9 < 6 ? 2
                                                               : i % 2)});
  Linked linked{image, names, 6};
  const auto seen = snapshot_of(linked.build(image), {.states = tests::all_states});

  std::set<u64> with_long;
  for (const auto& name : names)
    if (name.name_space == 1) with_long.insert(name.parent);
  std::set<std::string> expected;
  for (const auto& name : names)
    if (name.name_space != 2 || !with_long.contains(name.parent))
      expected.insert({name.name.begin(), name.name.end()});
  REQUIRE(expected.size() > 400);
  REQUIRE(expected.size() < 850);

  std::set<std::string> found;
  for (const auto& seen_row : seen.rows) {
    const auto& path = seen_row.first;
    const auto& row = seen_row.second;
    if (row.record != linked.file) continue;
    found.insert(path.substr(path.rfind('/') + 1));
    CHECK(row.links == expected.size());
    const auto own = std::ranges::find_if(names, [&](const NtfsName& name) {
      return path.ends_with(std::string{name.name.begin(), name.name.end()});
    });
    const auto half = std::ranges::find_if(names, [&](const NtfsName& name) {
      return own->name_space == 1 && name.name_space == 2 && name.parent == own->parent;
    });
    CHECK(
        row.short_name ==
        (half == names.end() ? std::string{} : std::string{half->name.begin(), half->name.end()}));
  }
  CHECK(found == expected);
}

TEST_CASE("of a file with more names than it can have the first are taken, and all else is") {
  NtfsImage image{{.clusters = 4096, .records = 1200}};
  std::vector<NtfsName> names;
  for (int i = 0; i < 5000; ++i)
    names.push_back(
        {.parent = 5, .name = tests::numbered(tests::numbered(u"", i / 1000), i % 1000)});
  const u64 folder = image.add_directory(u"folder");
  for (int i = 0; i < 100; ++i) image.add_file(tests::numbered(u"entry", i), "x", folder);
  Linked linked{image, names, 6};
  linked.add_extension(image, {}, {{.content = "behind all names"}});
  u64 copies = 0;
  for (u64 buffer = 0; buffer < 3; ++buffer)
    image.edit_index(folder, buffer, [&](ByteWriter& w) {
      const u64 end = 0x18 + *core::load<u32>(w.view(), 0x1c);
      for (u64 at = 0x18 + *core::load<u32>(w.view(), 0x18); at < end;
           at += *core::load<u16>(w.view(), at + 8))
        if (*core::load<u16>(w.view(), at + 10) > 0) w.patch<u64>(at, linked.file | u64{1} << 48);
      // A copy of the first entry in the slack, and one of a name that nothing lists.
      const u64 first = 0x18 + *core::load<u32>(w.view(), 0x18);
      const u64 length = *core::load<u16>(w.view(), first + 8);
      if (*core::load<u16>(w.view(), first + 10) == 0 || end + 2 * length > w.size()) return;
      const std::vector copy(w.view().begin() + static_cast<std::ptrdiff_t>(first),
                             w.view().begin() + static_cast<std::ptrdiff_t>(first + length));
      for (u64 i = 0; i < copy.size(); ++i) {
        w.patch(end + i, copy[i]);
        w.patch(end + length + i, copy[i]);
      }
      w.patch<u16>(end + length + 0x52, u'E');  // of "entry"
      ++copies;
    });
  const auto seen = snapshot_of(linked.build(image), {.states = tests::all_states, .slack = true});
  u64 rows = 0;
  u64 listed = 0;
  u64 slack = 0;
  for (const auto& [path, row] : seen.rows) {
    if (row.state == ntfs::State::slack) {
      CHECK(path.starts_with("/folder/Entry"));
      ++slack;
      continue;
    }
    if (row.record != linked.file) continue;
    ++(path.starts_with("/folder/") ? listed : rows);
    CHECK(row.has("links-limit"));
    CHECK(row.size == 16);
  }
  CHECK(rows == 4096);
  CHECK(listed > 90);
  CHECK(copies > 0);
  CHECK(slack == copies);
  CHECK(seen.findings.count("links-limit") == 1);
  for (const auto* code : {"attribute-list", "name-mismatch", "link-count", "extension-missing"})
    CHECK(seen.findings.count(code) == 0);
}

TEST_CASE("what is wrong with a file is counted once, whatever names it has") {
  NtfsImage image;
  const u64 file = image.add({.names = {{.parent = 5, .name = u"a"},
                                        {.parent = 5, .name = u"b"},
                                        {.parent = 5, .name = u"c"}},
                              .streams = {{.content = "x"}}});
  image.file(file).raw_attributes.push_back(
      fixtures::make_resident(0xc0, 9, ByteWriter{}.write_u32(0xa000'000c).view()));
  image.file(file).times = {5, 5, 5, 5};
  image.edit_record(file, [](ByteWriter& w) { w.patch<u16>(0x12, 7); });
  const auto seen = snapshot_of(image.build());
  for (const auto* code : {"link-count", "reparse-point", "time-implausible"}) {
    CHECK(seen.findings.count(code) == 1);
    for (const auto* path : {"/a", "/b", "/c"}) CHECK(seen.find(path)->has(code));
  }
}

// When the root was created, by a row that may have been used for another volume.
u64 root_created(const std::vector<std::byte>& bytes, ntfs::FileRow& row) {
  core::Findings findings;
  const core::MemoryImage image{bytes};
  const auto volume = ntfs::Volume::open(image, 0, image.size(), findings);
  const auto snapshot = ntfs::Snapshot::take(*volume, {}, findings);
  ntfs::Walk walk{snapshot, {ntfs::State::live}};
  ntfs::RowBatch batch;
  REQUIRE(walk.next(batch));
  snapshot.build_row(batch, batch.rows.front(), row);
  return row.facts.information->times.created.ticks;
}

TEST_CASE("a row that is reused holds nothing of another volume") {
  ntfs::FileRow row;
  constexpr u64 day = u64{86'400} * 10'000'000;
  for (u64 i = 1; i < 4; ++i) {
    const u64 created = 133'000'000'000'000'000 + i * day;
    NtfsImage image;
    image.file(5).times = {created, created, created, created};
    CHECK(root_created(image.build(), row) == created);
  }
}

// What the rows of one file have to tell of extended attributes and reparse targets, in bytes.
u64 count_repeated(const std::vector<std::byte>& bytes, u64 record, core::Findings& findings) {
  const core::MemoryImage image{bytes};
  const auto volume = ntfs::Volume::open(image, 0, image.size(), findings);
  const auto snapshot = ntfs::Snapshot::take(*volume, {}, findings);
  ntfs::Walk walk{snapshot, tests::all_states};
  ntfs::RowBatch batch;
  ntfs::FileRow row;
  u64 count = 0;
  while (walk.next(batch)) {
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, findings);
      if (source.file.record != record) continue;
      count += row.extended_attributes.size();
      if (row.reparse_target) count += row.reparse_target->size();
    }
  }
  return count;
}

TEST_CASE("names of one file do not multiply its extended attributes or its reparse target") {
  constexpr u64 size = 60'000;
  for (const u32 type : {0xe0U, 0xc0U}) {
    CAPTURE(type);
    NtfsImage image{{.clusters = 1024, .records = 300}};
    std::vector<NtfsName> names;
    for (int i = 0; i < 900; ++i)
      names.push_back({.parent = 5, .name = tests::numbered(u"name", i)});
    Linked linked{image, names, 6};
    const u64 place = image.allocate(15);
    linked.add_extension(image, {});
    image.file(linked.extensions.back())
        .raw_attributes.push_back(fixtures::make_non_resident(type, 9, {{place, 15}}, size, 4096));
    auto bytes = linked.build(image);
    ByteWriter value;
    if (type == 0xe0) {
      while (value.size() + 12 <= size) value.write_u32(12).write_u8(0).write_u8(1).align(12);
    } else {  // a symbolic link: lengths and offsets of its two names, flags
      const u16 length = 50'000;
      value.write_u32(0xa000'000c).write_u16(length + 12).write_u16(0);
      value.write_u16(0).write_u16(length).write_u16(0).write_u16(0).write_u32(0);
      while (value.size() < size) value.write_u16(u'x');
    }
    std::ranges::copy(value.view(), bytes.begin() + static_cast<std::ptrdiff_t>(place * 4096));
    core::Findings findings;
    const u64 count = count_repeated(bytes, linked.file, findings);
    CHECK(count > 20'000);
    CHECK(findings.count("streams-limit") > 0);
    // A piece is 12 bytes of extended attributes, or 64 of a target.
    CHECK(count < size + (bytes.size() / 64 + 4096) * 64);
  }
}

}  // namespace
}  // namespace coldtrace
