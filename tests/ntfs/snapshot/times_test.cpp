#include <catch2/catch.hpp>

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
      {"12: the name's times zeroed on the disk", "time-not-set", all_at(made), all_at(0),
       all_at(made)},
      {"13: the directory's times zeroed on the disk", "time-index-differs", all_at(made),
       all_at(made), all_at(0)},
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

TEST_CASE("a time out of order shows wherever the record is in the blocks that are read") {
  constexpr u64 in_block = (1 << 20) / 1024;  // bytes of a block and of a record
  for (u64 forged = in_block - 2; forged < in_block + 2; ++forged) {
    CAPTURE(forged);
    NtfsImage image{{.clusters = 1024, .records = in_block + 80}};
    u64 folder = 0;
    for (int i = 0; i < 1030; ++i) {
      if (i % 100 == 0) folder = image.add_directory(numbered(u"folder", i / 100));
      const u64 record = image.add_file(numbered(u"file", i % 100), "x", folder);
      if (record != forged) continue;
      image.file(record).times = all_at(made - 365 * day);
      image.file(record).names.front().times = all_at(made - 365 * day);
    }
    const auto seen = snapshot_of(image.build());
    CHECK(seen.findings.count("time-order") == 1);
    for (const auto& [path, row] : seen.rows)
      CHECK(row.has("time-order") == (row.record == forged));
  }
}

TEST_CASE("a record that was used before proves no order of those beside it") {
  NtfsImage image{{.clusters = 256, .records = 100}};
  image.add_file(u"before", "x");
  const u64 used = image.add({.names = {{.parent = 5, .name = u"used again"}}, .sequence = 2});
  image.file(used).times = all_at(made - 365 * day);
  image.add_file(u"behind", "x");
  CHECK(snapshot_of(image.build()).findings.count("time-order") == 0);
}

TEST_CASE("whole seconds are not a finding where most files have them") {
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
