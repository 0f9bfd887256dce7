#include "coldtrace/ntfs/journal/journal_findings.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using ntfs::ChangeJournal;

TEST_CASE("journals that were deleted are told unless they are read, and a volume without one is") {
  const core::MemoryImage none{core::ByteView{}};
  const auto stream = ntfs::JournalStream::of_file(none);
  const ChangeJournal live{{}, true, {}, stream}, deleted{{}, false, {}, stream};
  const std::vector<ChangeJournal> both{live, deleted, deleted}, gone{deleted};
  core::Findings of_live, of_both, of_read, of_gone, of_none;
  ntfs::note_journals(std::span{both}.first(1), false, 512, of_live);
  CHECK(of_live.empty());
  ntfs::note_journals(both, false, 512, of_both);
  REQUIRE(of_both.all().size() == 1);
  CHECK(of_both.all().front().code.view() == "journal-deleted");
  CHECK(of_both.all().front().text.starts_with("2 deleted journals"));
  ntfs::note_journals(both, true, 512, of_read);
  CHECK(of_read.empty());
  ntfs::note_journals(gone, true, 512, of_gone);
  REQUIRE(of_gone.all().size() == 1);
  CHECK(of_gone.all().front().code.view() == "journal-none");
  CHECK(of_gone.all().front().first_offset == 512);
  ntfs::note_journals({}, false, 0, of_none);
  CHECK(of_none.count("journal-none") == 1);
  CHECK_FALSE(of_none.has_warnings());
}
