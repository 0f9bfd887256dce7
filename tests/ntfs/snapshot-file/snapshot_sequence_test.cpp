#include "coldtrace/ntfs/snapshot-file/snapshot_sequence.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;

namespace {

// What is thought of lines: 'a', 'b' begin volumes of one disk, 's' a shadow copy of a, 'x' a
// volume of another disk; 'r' is a row, '1' and '2' a summary of so many volumes, '?' one that does
// not count them, '!' one that is not complete.
ntfs::SnapshotSequence read(std::string_view lines) {
  ntfs::SnapshotSequence sequence;
  for (const char line : lines) {
    if (line == 'a') sequence.add_header({4096, 1, 0}, "disk");
    if (line == 'b') sequence.add_header({8192, 2, 0}, "disk");
    if (line == 's') sequence.add_header({4096, 1, 1}, "disk");
    if (line == 'x') sequence.add_header({12288, 3, 0}, "other");
    if (line == 'r') sequence.add_row();
    if (line == '1' || line == '2') sequence.add_summary(line == '1' ? 1 : 2, true);
    if (line == '?') sequence.add_summary(std::nullopt, true);
    if (line == '!') sequence.add_summary(std::nullopt, false);
  }
  return sequence;
}

}  // namespace

TEST_CASE("a snapshot is complete with a header, rows and a summary of its volumes") {
  for (const auto* lines : {"ar1", "a1", "arbr2", "asr2", "ar?", "ar1br1", "ar1ar1"}) {
    CAPTURE(lines);
    CHECK(read(lines).complete());
  }
  for (const auto* lines : {"", "a", "ar", "arb", "ar!", "arbr1", "ar2", "ar1r", "ar11", "ar1r1",
                            "ar!br1", "ar1b", "r1"}) {
    CAPTURE(lines);
    CHECK_FALSE(read(lines).complete());
  }
}

TEST_CASE("views of volumes of one disk are of one run, each once") {
  for (const auto* lines : {"ar1", "arbr2", "arsr2", "ar", ""}) {
    CAPTURE(lines);
    CHECK(read(lines).refusal().empty());
  }
  for (const auto* lines : {"ar1ar1", "ar1br1", "arar2", "ar!br1"}) {
    CAPTURE(lines);
    CHECK(read(lines).refusal() == "several snapshots, one after the other: give only one of them");
  }
  for (const auto* lines : {"arxr2", "ar1xr1", "xra", "xr1ar1ar1"}) {
    CAPTURE(lines);
    CHECK(read(lines).refusal() ==
          "snapshots of several disks, one after the other: give only one of them");
  }
}

TEST_CASE("headers without end are not a run, and are not kept") {
  ntfs::SnapshotSequence sequence;
  for (u32 copy = 0; copy < 65'663; ++copy) sequence.add_header({4096, 1, copy}, "disk");
  CHECK(sequence.refusal().empty());
  for (u32 copy = 65'663; copy < 65'666; ++copy) sequence.add_header({4096, 1, copy}, "disk");
  CHECK(sequence.refusal() == "more volumes and shadow copies than are read");
}

TEST_CASE("a snapshot is whole where its file and all of its lines could be read") {
  const auto complete = read("ar1");
  core::Findings none, some;
  CHECK(complete.whole({}));
  complete.report_whole({}, none);
  CHECK(none.empty());
  CHECK_FALSE(complete.complete({.to_end = false}));
  CHECK(complete.complete({.damaged = 1}));
  CHECK_FALSE(complete.whole({.damaged = 1}));
  CHECK_FALSE(read("ar").whole({}));
  complete.report_whole({.damaged = 3}, some);
  REQUIRE(some.count("snapshot-incomplete") == 1);
  CHECK(some.has_warnings());
  CHECK(some.all().front().text.find("(lines that could not be read: 3)") != std::string::npos);
}
