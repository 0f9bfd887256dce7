#include <algorithm>
#include <random>

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
using tests::attribute_at;
using tests::snapshot_of;

// An attribute list that names records, each for a $FILE_NAME.
std::vector<std::byte> list_of(const std::vector<u64>& records) {
  ByteWriter list;
  for (const u64 record : records) {
    list.write_u32(0x30).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(0);
    list.write_u64(record | u64{1} << 48).write_u16(1).align(8);
  }
  return fixtures::make_resident(0x20, 30, list.view());
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
  CHECK(seen.state("/far/live") == State::live);
  CHECK(seen.state("/far/gone") == State::deleted);
  CHECK(seen.state("/far/unlisted") == State::unreachable);
  CHECK(seen.state("/far/below/kid") == State::deleted);
  CHECK(seen.findings.count("file-detached") == 0);

  // One file asked for is the same file.
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  const auto file = volume->read_file(far);
  REQUIRE(file);
  REQUIRE(file->facts.names.size() == 1);
  CHECK(to_utf8(file->facts.names[0].name) == "far");
  CHECK_FALSE(file->assembly.extension_missing);
}

// Attributes and names of a file by the record that has them, in the order of their joining.
std::vector<std::string> contents_of(const ntfs::RecordFacts& facts) {
  std::vector<std::string> contents;
  for (const auto& name : facts.names)
    contents.push_back(fmt::format("{} name {}", name.record, to_utf8(name.name)));
  for (const auto& attribute : facts.attributes)
    contents.push_back(fmt::format("{} {:#x} {} {}", attribute.record,
                                   static_cast<u32>(attribute.type), attribute.id, attribute.size));
  return contents;
}

// Each record of the volume read alone and with all others. Which records claim a file is known of
// the whole volume only: that one is not listed, and which belong to it where its list is damaged.
u64 check_both_ways(const core::ImageSource& source) {
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  if (!volume) return 0;
  const auto snapshot = ntfs::Snapshot::take(*volume, {}, findings);
  const auto& records = snapshot.records();
  u64 compared = 0;
  for (u64 record = 0; record < volume->mft().record_count(); ++record) {
    CAPTURE(record);
    const auto file = volume->read_file(record);
    REQUIRE(file.has_value() == records.has(record));
    if (!file) continue;
    ntfs::RecordFacts facts;
    const auto whole = records.assemble(record, facts);
    const auto& alone = file->assembly;
    CHECK(file->facts.torn == facts.torn);
    CHECK(file->facts.damaged == facts.damaged);
    REQUIRE(alone.list_damaged == whole.list_damaged);
    if (whole.list_damaged) {
      CHECK(std::ranges::includes(whole.joined, alone.joined));
      continue;
    }
    CHECK(alone.joined == whole.joined);
    CHECK(alone.extension_missing == whole.extension_missing);
    CHECK(alone.missing == whole.missing);
    CHECK(alone.lacking == whole.lacking);
    CHECK(contents_of(file->facts) == contents_of(facts));
    compared += alone.joined.size();
  }
  return compared;
}

TEST_CASE("a file asked for alone is put together like all files at once, however damaged") {
  NtfsImage image{{.clusters = 96, .records = 64}};
  std::vector<u64> numbers;
  for (char16_t letter = u'a'; letter <= u'f'; ++letter) {
    const bool in_use = letter != u'f';
    const std::u16string name{letter};
    const u64 file = image.add({.names = {{.parent = 5, .name = name}},
                                .in_use = in_use,
                                .sequence = static_cast<u16>(in_use ? 1 : 2)});
    std::vector<u64> listed{file};
    for (const char16_t* more : {u" two", u" three"}) {
      listed.push_back(image.add({.names = {{.parent = 5, .name = name + more}},
                                  .streams = {{.name = u"extra", .content = "more"}},
                                  .in_use = in_use,
                                  .listed = false,
                                  .base_record = file,
                                  .base_sequence = 1}));
    }
    image.file(file).raw_attributes.push_back(list_of(listed));
    numbers.insert(numbers.end(), listed.begin(), listed.end());
  }
  const auto sound = image.build();
  CHECK(check_both_ways(core::MemoryImage{sound}) == 12);
  std::mt19937 random{23};
  u64 compared = 0;
  constexpr u32 mutants = 200;
  for (u32 mutant = 0; mutant < mutants; ++mutant) {
    auto bytes = sound;
    std::string what;
    for (u32 i = 0; i <= mutant % 3; ++i) {
      // The first sector has the header and most attributes; its two last bytes are a fixup.
      const u64 at = image.record_offset(numbers[random() % numbers.size()]) + random() % 0x2b0;
      const bool bit = random() % 2 == 0;
      bytes[at] = bit ? bytes[at] ^ static_cast<std::byte>(1U << (random() % 8))
                      : static_cast<std::byte>(random());
      what += fmt::format("{} at {:#x}; ", bit ? "flipped bit" : "byte", at);
    }
    CAPTURE(mutant, what);
    compared += check_both_ways(core::MemoryImage{bytes});
  }
  CHECK(compared > mutants * 8);
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
    const auto assembly = snapshot.records().assemble(files[i], facts);
    CHECK(file->facts.names.size() == names[i]);
    CHECK(facts.names.size() == names[i]);
    CHECK(facts.attributes.size() == file->facts.attributes.size());
    CHECK(assembly.extension_missing == (i == 1));
    CHECK(file->assembly.extension_missing == (i == 1));
  }
}

}  // namespace
}  // namespace coldtrace
