#include <catch2/catch.hpp>

#include "fixtures/builders/failing_image.hpp"
#include "tests/ntfs/snapshot/defects.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsFile;
using fixtures::NtfsImage;
using tests::Defect;
using tests::Seen;
using tests::snapshot_of;
using tests::Volume;
using tests::whole_volume;

void check(const Defect& defect) {
  CAPTURE(defect.why);
  Volume volume;
  defect.bend(volume);
  auto bytes = volume.image.build();
  defect.break_bytes(volume, bytes);
  const Seen seen = snapshot_of(bytes, {.states = tests::all_states, .slack = true});
  REQUIRE(seen.opened);
  if (defect.code != nullptr) {
    CHECK(seen.findings.count(defect.code) > 0);
    CHECK((seen.warns() || defect.code == std::string_view{"boot-sector"}));
  } else {
    CHECK_FALSE(seen.warns());
  }
  const auto live = std::count_if(seen.rows.begin(), seen.rows.end(), [](const auto& row) {
    return row.second.state == ntfs::State::live;
  });
  CHECK(static_cast<u64>(live) + defect.lost >= whole_volume);
  // What the directories lost is found through the records.
  if (defect.lost < whole_volume) CHECK(seen.find("/plain.txt") != nullptr);
  CHECK(seen.findings.all().size() < 20);
}

TEST_CASE("a healthy volume gives all names and no findings") {
  Volume volume;
  const auto seen = snapshot_of(volume.image.build());
  REQUIRE(seen.opened);
  CHECK(seen.findings.empty());
  CHECK(seen.rows.size() == whole_volume);
  const auto* c = seen.find("/docs/c.bin");
  REQUIRE(c != nullptr);
  REQUIRE(c->extents.size() == 2);
  CHECK(static_cast<u64>(*c->extents[1].lcn) == volume.first_cluster + 5);
  CHECK(seen.find("/docs/deep/leaf.txt") != nullptr);
  CHECK(seen.find("/many/entry-119") != nullptr);
}

TEST_CASE("damage to one record leaves all other rows") {
  for (const auto& defect : tests::record_defects()) check(defect);
}

TEST_CASE("an attribute behind those that a record uses is told") {
  Volume volume;
  const auto removed =
      fixtures::make_resident(0x80, 7, std::as_bytes(std::span{"removed", 7}), u"Zone.Identifier");
  volume.image.edit_record(volume.plain, [&](ByteWriter& bytes) {
    const u64 end = *core::load<u32>(bytes.view(), 0x18);
    for (u64 i = 0; i < removed.size(); ++i)
      bytes.patch<u8>(end + i, std::to_integer<u8>(removed[i]));
  });
  const auto seen = snapshot_of(volume.image.build());
  CHECK(seen.findings.count("attribute-remains") == 1);
  CHECK(seen.findings.all().size() == 1);
  CHECK_FALSE(seen.warns());
  CHECK(seen.find("/plain.txt")->streams == std::vector<std::string>{"", "extra"});
}

TEST_CASE("damage to run lists leaves all rows") {
  for (const auto& defect : tests::stream_defects()) check(defect);
}

TEST_CASE("damage to indexes leaves what the other nodes hold, and records tell the rest") {
  for (const auto& defect : tests::index_defects()) check(defect);
}

TEST_CASE("damage to the volume's own structures is worked around") {
  for (const auto& defect : tests::volume_defects()) check(defect);
}

TEST_CASE("an image that ends anywhere gives what lies before its end") {
  Volume volume;
  const auto bytes = volume.image.build();
  u64 opened = 0;
  for (u64 size = 0; size < bytes.size(); size += 4096) {
    CAPTURE(size);
    const auto seen = snapshot_of(core::ByteView{bytes}.first(size),
                                  {.states = tests::all_states, .slack = true});
    if (!seen.opened) {
      CHECK(size < volume.image.record_offset(5));
      continue;
    }
    ++opened;
    // Without its last sector only the copy of the boot sector is missing.
    if (size < volume.image.options().clusters * 4096) CHECK(seen.warns());
    if (size >= volume.image.record_offset(191) + 4096) CHECK(seen.find("/docs/c.bin") != nullptr);
  }
  CHECK(opened > 0);
}

TEST_CASE("ranges that cannot be read are gaps and the walk goes on") {
  Volume volume;
  const auto bytes = volume.image.build();
  const core::MemoryImage image{bytes};
  SECTION("records") {
    const fixtures::FailingImage failing{image, {{volume.record_at(volume.a, 0), 2048}}};
    const auto seen = snapshot_of(failing, {.states = tests::all_states});
    REQUIRE(seen.opened);
    REQUIRE(seen.gaps.size() == 1);
    CHECK(seen.gaps[0].first == volume.a);
    CHECK(seen.gaps[0].count == 2);
    CHECK(seen.findings.count("record-unreadable") == 2);
    CHECK(seen.find("/docs/c.bin") != nullptr);
    CHECK(seen.find("/docs/a.txt")->state == ntfs::State::stale);
  }
  SECTION("an index buffer") {
    const fixtures::FailingImage failing{image, {{volume.image.index_offset(volume.many, 0), 1}}};
    const auto seen = snapshot_of(failing, {.states = tests::all_states});
    REQUIRE(seen.gaps.size() == 1);
    CHECK(seen.gaps[0].first == volume.many);
    CHECK(seen.find("/many/entry-119")->state == ntfs::State::live);
    CHECK(seen.find("/many/entry-000")->state == ntfs::State::unreachable);
  }
}

TEST_CASE("cyclic parents of deleted directories end") {
  Volume volume;
  auto& image = volume.image;
  const u64 one = image.add({.names = {{.parent = 5, .name = u"one"}},
                             .directory = true,
                             .in_use = false,
                             .sequence = 2});
  const u64 two = image.add({.names = {{.parent = one, .name = u"two", .parent_sequence = 1}},
                             .directory = true,
                             .in_use = false,
                             .sequence = 2});
  image.file(one).names[0].parent = two;
  image.file(one).names[0].parent_sequence = 1;
  image.add({.names = {{.parent = two, .name = u"kid", .parent_sequence = 1}},
             .streams = {{.content = "k"}},
             .in_use = false,
             .sequence = 2});
  const auto seen = snapshot_of(image.build(), {.states = tests::all_states});
  REQUIRE(seen.opened);
  const auto kid = std::find_if(seen.order.begin(), seen.order.end(), [](const auto& path) {
    return path.size() > 4 && path.substr(path.size() - 4) == "/kid";
  });
  REQUIRE(kid != seen.order.end());
  CHECK(kid->substr(0, 9) == "/<parent ");
}

}  // namespace
}  // namespace coldtrace
