#include "coldtrace/ntfs/journal/journal_pages.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/ntfs/journal/directory_history.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

TEST_CASE("a record found by a search has the number of its place, known reasons and a file") {
  UsnRecord record{};
  record.major = 2;
  record.file = {0x21, 3};
  record.usn = 0x5'0040;
  record.reasons = 0x8000'0100;
  constexpr u64 position = 0x7040;
  CHECK(is_likely_record(record, position));
  CHECK_FALSE(is_likely_record(record, position + 8));
  const auto with = [&](auto change) {
    auto changed = record;
    change(changed);
    return is_likely_record(changed, position);
  };
  CHECK(with([](auto& one) { one.major = 3; }));
  CHECK_FALSE(with([](auto& one) { one.major = 4; }));
  CHECK_FALSE(with([](auto& one) { one.usn += 8; }));
  CHECK_FALSE(with([](auto& one) { one.reasons = 0; }));
  CHECK_FALSE(with([](auto& one) { one.reasons |= 0x0400'0000; }));  // no reason of [MS-FSCC]
  CHECK_FALSE(with([](auto& one) { one.file.sequence = 0; }));
}

TEST_CASE("a directory of which nothing is known has its reference for a path, that of zeros too") {
  DirectoryHistory history;
  for (const FileReference directory : {FileReference{0, 0}, FileReference{40, 1}}) {
    const auto path = history.find(directory);
    CHECK_FALSE(path.whole);
    CHECK_FALSE(path.text.empty());
  }
}
