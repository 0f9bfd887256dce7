#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using tests::Seen;

ByteWriter list_entry(u32 type, u64 lowest_vcn, u64 record, u16 id, std::u16string_view name = {}) {
  ByteWriter out;
  out.write_u32(type).write_u16((0x1a + name.size() * 2 + 7) / 8 * 8).write_u8(name.size());
  out.write_u8(0x1a).write_u64(lowest_vcn).write_u64(record | u64{1} << 48).write_u16(id);
  for (const char16_t unit : name) out.write_u16(unit);
  return out.align(8);
}

// Files with attributes of all kinds.
struct Volume {
  fixtures::NtfsImage image{{.clusters = 128, .records = 80}};
  std::vector<u64> files;

  Volume() {
    const u64 folder = image.add_directory(u"folder");
    for (char16_t letter = u'a'; letter <= u'j'; ++letter)
      image.add_file(u"a name long enough for buffers " + std::u16string{letter}, "", folder);
    const u64 plain = image.add_file(u"plain", "some content", folder);
    image.file(plain).streams.push_back({.name = u"Zone.Identifier", .content = "[ZoneTransfer]"});
    const u64 place = image.allocate(16);
    const u64 pieces = image.add({.names = {{.parent = folder, .name = u"pieces", .size = 20380}},
                                  .streams = {{.runs = {{place, 2}, {place + 4, 3}}, .size = 20380},
                                              {.name = u"holes",
                                               .runs = {{place + 8, 1}, {std::nullopt, 3}},
                                               .size = 16000,
                                               .flags = 0x8000}}});
    const u64 rich = image.add_file(u"rich", "rich content", folder);
    auto& raw = image.file(rich).raw_attributes;
    raw.push_back(fixtures::make_resident(
        0x40, 20, ByteWriter{}.write_u64(0x1122334455667788).write_u64(99).view()));
    ByteWriter link;
    link.write_u32(0xa000000c).write_u16(20).write_u16(0).write_u16(4).write_u16(4);
    link.write_u16(0).write_u16(4).write_u32(1);
    for (const char16_t unit : std::u16string_view{u"p:to"}) link.write_u16(unit);
    raw.push_back(fixtures::make_resident(0xc0, 21, link.view()));
    const u64 spread = image.add({.names = {{.parent = folder, .name = u"spread", .size = 20000}},
                                  .streams = {{.runs = {{place + 10, 2}}, .size = 20000}}});
    const u64 rest = image.add({.listed = false, .base_record = spread, .base_sequence = 1});
    image.file(rest).raw_attributes.push_back(
        fixtures::make_non_resident(0x80, 0, {{place + 12, 3}}, 20000, 4096, {}, 0, 2));
    ByteWriter list;
    list.write_bytes(list_entry(0x10, 0, spread, 0).view());
    list.write_bytes(list_entry(0x30, 0, spread, 1).view());
    list.write_bytes(list_entry(0x80, 0, spread, 2).view());
    list.write_bytes(list_entry(0x80, 2, rest, 0).view());
    image.file(spread).raw_attributes.push_back(fixtures::make_resident(0x20, 9, list.view()));
    // The first piece has the sizes of the whole stream.
    image.edit_record(spread, [](ByteWriter& w) {
      u64 at = *core::load<u16>(w.view(), 0x14);
      while (*core::load<u32>(w.view(), at) != 0x80) at += *core::load<u32>(w.view(), at + 4);
      w.patch<u64>(at + 0x28, 5 * 4096);
    });
    files = {folder, plain, pieces, rich, spread, rest};
  }
};

struct Place {
  u32 type;
  bool resident;
  u64 offset;  // in the attribute
  unsigned bit;
};

// What a bit of the head may change without a word, as nothing else in the format tells.
std::string_view untold(const Place& place) {
  const u64 offset = place.offset;
  if (offset == 0x0e || offset == 0x0f) return "an id that no other attribute has";
  if (offset == 0x0c && place.bit == 0) return "a stream is compressed when this says so";
  if (offset == 0x0d && place.bit >= 6) return "a stream is sparse or encrypted when this says so";
  if (offset == 9) return "a shorter name that ends before the same multiple of 8";
  if (place.resident && offset == 0x10 && place.bit < 3)
    return "a size that ends before the same multiple of 8";
  if (!place.resident && offset >= 0x30 && offset < 0x40)
    return "a size, and a valid size, below what is allocated";
  return {};
}

std::multimap<std::string, std::string> rows_of(const Seen& seen, u64 record) {
  std::multimap<std::string, std::string> rows;
  for (const auto& [path, row] : seen.rows)
    if (row.record == record) rows.emplace(path, row.members);
  return rows;
}

// Every bit where one has a meaning of its own; of other bytes three, which are others from
// attribute to attribute: of a byte at one offset, the attributes together have them all.
bool is_turned(const Place& place, u64 attribute) {
  const bool flags = place.offset == 0x0c || place.offset == 0x0d;
  const bool size = place.resident && place.offset == 0x10;
  return flags || size || (place.bit + place.offset + attribute) % 8 < 3;
}

TEST_CASE("a bit of an attribute's head changes nothing that is said of a file without a finding") {
  Volume volume;
  auto bytes = volume.image.build();
  const tests::SnapshotOptions all{.states = tests::all_states};
  const auto sound = tests::snapshot_of(bytes, all);
  REQUIRE(sound.opened);
  REQUIRE(sound.findings.empty());
  u64 told = 0;
  u64 attributes = 0;
  std::set<u32> done;
  std::map<std::string_view, u64> silent;
  for (const u64 file : volume.files) {
    const u64 record = volume.image.record_offset(file);
    const u64 base = *core::load<u64>(bytes, record + 0x20) & 0xffff'ffff'ffff;
    const u64 owner = base != 0 ? base : file;
    const auto before = rows_of(sound, owner);
    REQUIRE(before.size() == 1);
    for (u64 at = record + *core::load<u16>(bytes, record + 0x14);
         *core::load<u32>(bytes, at) != 0xffff'ffff; at += *core::load<u32>(bytes, at + 4)) {
      const auto type = *core::load<u32>(bytes, at);
      const bool resident = *core::load<u8>(bytes, at + 8) == 0;
      // Of those that all files have, one stands for all.
      if ((type == 0x10 || type == 0x30) && !done.insert(type).second) continue;
      ++attributes;
      for (u64 offset = 0; offset < (resident ? 0x18u : 0x40u); ++offset) {
        // The last bytes of a stride are kept elsewhere.
        if ((at + offset) % 512 >= 510) continue;
        for (unsigned bit = 0; bit < 8; ++bit) {
          const Place place{type, resident, offset, bit};
          if (!is_turned(place, attributes)) continue;
          CAPTURE(file, type, resident, offset, bit);
          const auto flip = static_cast<std::byte>(1U << bit);
          bytes[at + offset] ^= flip;
          const auto seen = tests::snapshot_of(bytes, all);
          bytes[at + offset] ^= flip;
          REQUIRE(seen.opened);
          if (rows_of(seen, owner) == before) continue;
          if (!seen.findings.empty()) {
            ++told;
            continue;
          }
          const auto reason = untold(place);
          CHECK(reason != "");
          ++silent[reason];
        }
      }
    }
  }
  CHECK(attributes > 12);
  CHECK(told > 1000);
  CAPTURE(silent);
  // Each reason is needed.
  CHECK(silent.size() == 6);
}

}  // namespace
}  // namespace coldtrace
