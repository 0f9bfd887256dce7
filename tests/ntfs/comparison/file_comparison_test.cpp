#include "coldtrace/ntfs/comparison/file_comparison.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

constexpr FileReference root{5, 5};

ComparedFile file(u64 record, const std::string& name, u64 size) {
  ComparedFile made;
  made.file = {record, 1};
  made.names = {{root, name, "/" + name}};
  made.streams = {{{.name = {}, .size = size, .resident = true, .extents = {}}}};
  return made;
}

ComparedFiles files_of(const std::vector<ComparedFile>& given) {
  auto files = ComparedFiles::create();
  REQUIRE(files);
  for (const auto& one : given) REQUIRE(files->add(one));
  REQUIRE(files->finish());
  return std::move(*files);
}

}  // namespace

TEST_CASE("files are the same by record and sequence, and their changes by what differs") {
  auto reused = file(33, "reused", 1);
  reused.file.sequence = 2;
  const auto before = files_of(
      {file(30, "kept", 1), file(31, "old", 1), file(32, "grown", 1), file(33, "reused", 1)});
  const auto after =
      files_of({file(30, "kept", 1), file(31, "new", 1), file(32, "grown", 2), reused});
  std::vector<std::pair<u64, std::vector<FileChange>>> seen;
  const auto counts = compare_files(before, after, [&](const FileDifference& difference) {
    seen.emplace_back(difference.file.record, difference.changes());
  });
  REQUIRE(counts);
  CHECK(counts->before == 4);
  CHECK(counts->after == 4);
  CHECK(counts->unchanged == 1);
  CHECK_FALSE(counts->same());
  REQUIRE(seen.size() == 4);
  CHECK(seen[0] == std::pair{u64{31}, std::vector{FileChange::renamed}});
  CHECK(seen[1] == std::pair{u64{32}, std::vector{FileChange::resized}});
  CHECK(seen[2] == std::pair{u64{33}, std::vector{FileChange::deleted}});
  CHECK(seen[3] == std::pair{u64{33}, std::vector{FileChange::created}});
}

TEST_CASE("what one side does not know is not compared") {
  auto unknown = file(30, "a", 1);
  unknown.streams.reset();
  auto known = file(30, "a", 1);
  known.times = Times{};
  known.owner = "S-1-5-18";
  const auto counts = compare_files(files_of({unknown}), files_of({known}),
                                    [](const FileDifference&) { FAIL("nothing differs"); });
  REQUIRE(counts);
  CHECK(counts->same());
}

TEST_CASE("what a gap of the other side may have is neither deleted nor created") {
  const auto before = files_of({file(30, "lost", 1), file(31, "unlisted", 1), file(32, "gone", 1)});
  struct Row {
    const char* why;
    std::vector<Gap> gaps;
    bool all_unlisted;
    std::vector<u64> deleted;
  };
  const auto [why, gaps, all_unlisted, deleted] = GENERATE(values<Row>({
      {"no gap", {}, true, {30, 31, 32}},
      {"no gap, and none is known to be unlisted", {}, false, {30, 31, 32}},
      {"a record", {{0, 1024, Gap::Lost::records, 30, 1}}, true, {32}},
      {"an index", {{0, 4096, Gap::Lost::index, 5, 0}}, true, {30, 32}},
      {"an index, where unlisted files are not known",
       {{0, 4096, Gap::Lost::index, 5, 0}},
       false,
       {}},
      {"records in a wider gap",
       {{0, 1, Gap::Lost::records, 0, ~u64{0}}, {0, 1, Gap::Lost::records, 2, 1}},
       true,
       {}},
  }));
  CAPTURE(why);
  auto after = ComparedFiles::create();
  REQUIRE(after);
  for (const auto& gap : gaps) after->add_gap(gap);
  after->add_unlisted({31, before.next({}).file.sequence});
  REQUIRE(after->finish(all_unlisted));
  std::vector<u64> seen;
  const auto counts = compare_files(before, *after, [&](const FileDifference& difference) {
    CHECK(difference.changes() == std::vector{FileChange::deleted});
    seen.push_back(difference.file.record);
  });
  REQUIRE(counts);
  CHECK(seen == deleted);
  CHECK(counts->unknown == 3 - deleted.size());
  CHECK_FALSE(counts->same());
  seen.clear();
  const auto created = compare_files(*after, before, [&](const FileDifference& difference) {
    seen.push_back(difference.file.record);
  });
  REQUIRE(created);
  CHECK(seen == deleted);
}
