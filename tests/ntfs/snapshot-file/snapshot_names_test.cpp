#include "coldtrace/ntfs/snapshot-file/snapshot_names.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using ntfs::SnapshotNames;
using ntfs::State;

namespace {

using Numbers = std::array<u64, ntfs::state_count>;  // live, deleted, ...

void add_snapshot(SnapshotNames& names, const Numbers& rows, const Numbers& counted,
                  bool matched = false) {
  ntfs::SnapshotCounts counts{.matched = matched};
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    for (u64 row = 0; row < rows[i]; ++row) names.add_row(static_cast<State>(i));
    counts.names[i] = counted[i];
  }
  names.add_counts(counts);
}

std::string told(const SnapshotNames& names) {
  core::Findings findings;
  names.report("are not searched", findings);
  if (findings.empty()) return {};
  CHECK(findings.count("snapshot-selection") > 0);
  CHECK(findings.has_warnings());
  return findings.all().front().text;
}

}  // namespace

TEST_CASE("a snapshot with the rows that its last line counts has all names") {
  SnapshotNames names;
  CHECK_FALSE(names.has_all(State::live));  // no last line was read
  CHECK(names.counted(State::live) == std::nullopt);
  add_snapshot(names, {3, 2}, {3, 2});
  CHECK(names.has_all(State::live));
  CHECK(names.has_all_files());
  CHECK(names.rows(State::deleted) == 2);
  CHECK(names.counted(State::deleted) == 2U);
  CHECK(names.left_out().empty());
  CHECK(told(names).empty());
}

TEST_CASE("a state without rows was left out, one with some has lost the others") {
  SnapshotNames names;
  add_snapshot(names, {2, 0, 0, 0, 0}, {3, 12, 0, 0, 4});
  CHECK(names.left_out() == "12 deleted, 4 stale");
  CHECK(names.left_out(State::deleted) == 12);
  CHECK(names.left_out(State::live) == 0);
  CHECK(told(names) ==
        "the snapshot lacks names that its last line counts: 2 of 3 live. The others are not "
        "searched");
  CHECK_FALSE(names.has_all(State::live));
  CHECK_FALSE(names.has_all(State::deleted));
  CHECK(names.has_all(State::detached));
  CHECK_FALSE(names.has_all_files());
}

TEST_CASE("rows that no last line counts are told") {
  SnapshotNames names;
  add_snapshot(names, {4, 1}, {3, 1});
  CHECK(told(names) == "the snapshot has more names than its last line counts: 4 of 3 live");
  CHECK_FALSE(names.has_all(State::live));
  CHECK(names.has_all(State::deleted));
}

TEST_CASE("what one snapshot has too much does not hide what another lacks") {
  SnapshotNames names;
  add_snapshot(names, {2}, {3});
  add_snapshot(names, {4}, {3});
  core::Findings findings;
  names.report("are not searched", findings);
  CHECK(findings.count("snapshot-selection") == 2);
  CHECK(names.rows(State::live) == 6);
  CHECK(names.counted(State::live) == 6U);
  CHECK_FALSE(names.has_all(State::live));
}

TEST_CASE("the answer of a query has the names that matched") {
  SnapshotNames names;
  add_snapshot(names, {1}, {9}, true);
  CHECK(told(names).empty());
  CHECK(names.left_out() == "8 live");
  CHECK_FALSE(names.has_all(State::live));
}

TEST_CASE("rows that do not say their states are of some of those that are counted") {
  SnapshotNames names;
  for (int i = 0; i < 5; ++i) names.add_row(std::nullopt);
  ntfs::SnapshotCounts counts;
  counts.names = {5, 3, 0, 0, 0, 0, 0};
  names.add_counts(counts);
  CHECK(names.left_out() == "3 names");
  CHECK(told(names).empty());
  CHECK_FALSE(names.has_all(State::detached));
}

TEST_CASE("what a last line does not count is not known") {
  SnapshotNames names;
  names.add_row(State::live);
  names.add_counts({});
  CHECK(told(names).empty());
  CHECK(names.left_out().empty());
  CHECK(names.counted(State::live) == std::nullopt);
  CHECK_FALSE(names.has_all(State::live));
}

TEST_CASE("counts of 64 bits do not wrap") {
  SnapshotNames names;
  add_snapshot(names, {1}, {~u64{0}});
  add_snapshot(names, {0, 1}, {~u64{0}, ~u64{0}});
  CHECK(names.counted(State::live) == ~u64{0});
  CHECK(names.left_out(State::live) == ~u64{0});
}

TEST_CASE("names that are left out are information") {
  core::Findings findings;
  ntfs::note_left_out("", findings);
  CHECK(findings.empty());
  ntfs::note_left_out("12 deleted", findings);
  REQUIRE(findings.count("snapshot-left-out") == 1);
  CHECK_FALSE(findings.has_warnings());
  CHECK(findings.all().front().text == "not in the snapshot: 12 deleted");
}

TEST_CASE("names of rows that cannot be used are missing, and not left out") {
  SnapshotNames names;
  names.add_unusable_row();
  names.add_unusable_row();
  add_snapshot(names, {1, 0, 0, 0, 0}, {2, 1, 0, 0, 4});
  CHECK(names.left_out() == "4 stale");
  CHECK(told(names) ==
        "the snapshot lacks names that its last line counts: 1 of 2 live, 0 of 1 deleted. The "
        "others are not searched");
  CHECK_FALSE(names.has_all(State::deleted));
  add_snapshot(names, {}, {0, 1});  // of the next one every row was used
  CHECK(names.left_out(State::deleted) == 1);
}

TEST_CASE("live names that a comparison lacks or has too much look deleted or created") {
  struct Row {
    const char* why;
    u64 rows, counted;
    const char* told;
  };
  const auto row = GENERATE(values<Row>({
      {"as many as are counted", 3, 3, ""},
      {"fewer", 2, 3, "live names in the snapshot: 2, counted in its last line: 3; "},
      {"none", 0, 3, "live names in the snapshot: 0, counted in its last line: 3; "},
      {"more", 4, 3, "live names in the snapshot: 4, counted in its last line: 3; "},
  }));
  CAPTURE(row.why);
  SnapshotNames names;
  add_snapshot(names, {row.rows, 1}, {row.counted, 7});
  core::Findings findings;
  names.report_compared(findings);
  CHECK(findings.count("snapshot-selection") == (*row.told == 0 ? 0U : 1U));
  if (!findings.empty()) CHECK(findings.all().front().text.starts_with(row.told));
}
