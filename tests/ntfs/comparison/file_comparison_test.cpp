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
