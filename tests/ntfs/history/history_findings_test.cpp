#include "coldtrace/ntfs/history/history_findings.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using ntfs::VolumeHistory;

namespace {

// One with this many files of the path "a".
VolumeHistory history_of(std::size_t files) {
  VolumeHistory history{{"a", "b"}};
  for (std::size_t i = 0; i < files; ++i)
    history.search(VolumeHistory::Row{"/a", {i, 1}, ntfs::State::live});
  return history;
}

}  // namespace

TEST_CASE("a path is missing where no volume has it") {
  const auto none = history_of(0), one = history_of(1);
  const std::vector<const VolumeHistory*> both{&none, &one}, empty{&none};
  CHECK(ntfs::find_missing_paths(both, 2) == std::vector<std::size_t>{1});
  CHECK(ntfs::find_missing_paths(empty, 2) == std::vector<std::size_t>{0, 1});
  CHECK(ntfs::find_missing_paths({}, 1) == std::vector<std::size_t>{0});
}

TEST_CASE("more files than are kept are a warning, once for all volumes") {
  const auto whole = history_of(VolumeHistory::most_versions);
  const auto limited = history_of(VolumeHistory::most_versions + 1);
  core::Findings of_whole, of_limited;
  const std::vector<const VolumeHistory*> one{&whole}, several{&whole, &limited, &limited};
  ntfs::note_history_limit(one, of_whole);
  CHECK(of_whole.empty());
  ntfs::note_history_limit(several, of_limited);
  CHECK(of_limited.count("history-limit") == 1);
  CHECK(of_limited.has_warnings());
}
