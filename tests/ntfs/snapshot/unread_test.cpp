#include <algorithm>

#include <catch2/catch.hpp>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/image_edits.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using tests::snapshot_of;

// An image of a disk of which a range could not be read.
class UnreliableImage final : public core::ImageSource {
 public:
  UnreliableImage(core::ByteView bytes, core::ByteRange range) : bytes_{bytes}, range_{range} {}
  u64 size() const override { return bytes_.size(); }
  std::span<const core::ByteRange> unreliable() const override { return {&range_, 1}; }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    return bytes_.read_at(offset, destination);
  }

 private:
  core::MemoryImage bytes_;
  core::ByteRange range_;
};

TEST_CASE("a file with an extension record in unread sectors is marked") {
  NtfsImage image{{.clusters = 256, .records = 80}};
  const u64 file = image.add({.names = {{.parent = 5, .name = u"file"}}});
  const u64 extension = image.add({.streams = {{.name = u"stream", .content = "x"}},
                                   .listed = false,
                                   .base_record = file,
                                   .base_sequence = 1});
  ByteWriter list;
  for (const u64 record : {file, extension}) {
    list.write_u32(0x80).write_u16(0x20).write_u8(0).write_u8(0x1a).write_u64(0);
    list.write_u64(record | u64{1} << 48).write_u16(1).align(8);
  }
  image.file(file).raw_attributes.push_back(fixtures::make_resident(0x20, 30, list.view()));
  image.add_file(u"other", "x");
  const auto bytes = image.build();
  CHECK_FALSE(snapshot_of(bytes).find("/file")->has("unread-sectors"));
  for (const u64 record : {file, extension}) {
    const auto seen = snapshot_of(UnreliableImage{bytes, {image.record_offset(record) + 600, 8}});
    CHECK(seen.find("/file")->has("unread-sectors"));
    CHECK_FALSE(seen.find("/other")->has("unread-sectors"));
  }
}

TEST_CASE("zeros in unread sectors are a lost record, and elsewhere one that was never used") {
  NtfsImage image;
  const u64 file = image.add({.names = {{.parent = 5, .name = u"file"}}, .listed = false});
  auto bytes = image.build();
  const u64 at = image.record_offset(file);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1024, std::byte{});
  CHECK(snapshot_of(bytes).gaps.empty());
  CHECK(snapshot_of(UnreliableImage{bytes, {0, 8}}).gaps.empty());
  const auto seen = snapshot_of(UnreliableImage{bytes, {at + 600, 8}});
  REQUIRE(seen.gaps.size() == 1);
  CHECK(seen.gaps[0].first == file);
  CHECK(seen.gaps[0].count == 1);
}

TEST_CASE("a stale name whose entry lies in unread sectors is marked") {
  NtfsImage image;
  const u64 folder = image.add_directory(u"folder");
  for (int i = 0; i < 20; ++i) image.add_file(tests::numbered(u"name", i), "x", folder);
  u64 entry = 0;
  image.edit_index(folder, 0, [&](ByteWriter& w) {
    entry = 0x18 + *core::load<u32>(w.view(), 0x18);
    w.patch<u16>(entry + 6, 77);
  });
  const auto bytes = image.build();
  const u64 at = image.index_offset(folder, 0) + entry;
  const tests::SnapshotOptions options{.states = tests::all_states};
  const auto count = [&](core::ByteRange range) {
    u64 marked = 0;
    for (const auto& [path, row] : snapshot_of(UnreliableImage{bytes, range}, options).rows)
      if (row.state == ntfs::State::stale && row.has("unread-sectors")) ++marked;
    return marked;
  };
  CHECK(count({at + 0x50, 4}) == 1);
  CHECK(count({at + 0x200, 4}) == 0);
}

}  // namespace
}  // namespace coldtrace
