#include "coldtrace/ntfs/logfile/log_findings.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;

namespace {

// What a log of these bytes is said to be.
core::Findings state_of(const std::vector<std::byte>& bytes) {
  const core::MemoryImage image{bytes};
  const auto stream = ntfs::LogStream::of_file(image);
  core::Findings of_pages, state;
  ntfs::note_log_state(ntfs::LogFile::read(stream, of_pages), state);
  return state;
}

}  // namespace

TEST_CASE("an erased log is information, one without a restart page is damage") {
  const auto erased = state_of(std::vector<std::byte>(64 * 1024, std::byte{0xff}));
  REQUIRE(erased.all().size() == 1);
  CHECK(erased.count("log-erased") == 1);
  CHECK_FALSE(erased.has_warnings());
  const auto blank = state_of(std::vector<std::byte>(64 * 1024, std::byte{0x20}));
  REQUIRE(blank.all().size() == 1);
  CHECK(blank.count("log-restart") == 1);
  CHECK(blank.has_warnings());
}

TEST_CASE("records whose pages are gone are counted") {
  ntfs::LogHistory history;
  core::Findings whole, cut;
  ntfs::note_log_history(history, whole);
  CHECK(whole.empty());
  history.lost = 3;
  ntfs::note_log_history(history, cut);
  REQUIRE(cut.count("log-lost") == 1);
  CHECK(cut.all().front().text.starts_with("3 records of $LogFile"));
  CHECK_FALSE(cut.has_warnings());
}
