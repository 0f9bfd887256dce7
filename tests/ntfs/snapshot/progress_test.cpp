#include <map>

#include <catch2/catch.hpp>

#include "coldtrace/ntfs/snapshot.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace {
namespace {

using Pass = ntfs::Snapshot::Pass;

struct Heard final : core::Progress {
  u64 announced = 0, bytes = 0, items = 0;
  unsigned begun = 0;
  void add(u64 more, u64 count) override {
    bytes += more;
    items += count;
  }
};

TEST_CASE(
    "a snapshot tells how many bytes of records and indexes it reads, and each of them once") {
  fixtures::NtfsImage image{{.clusters = 4096, .records = 3000}};
  const auto folder = image.add_directory(u"folder");
  for (int i = 0; i < 100; ++i)
    image.add_file(
        u"a name that fills an index " + std::u16string(1, static_cast<char16_t>(i + 0x4e00)), "",
        folder);
  const auto bytes = image.build();
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  REQUIRE(volume);
  for (const unsigned jobs : {1U, 4U}) {
    std::map<Pass, Heard> passes;
    const auto snapshot = ntfs::Snapshot::take(*volume,
                                               {.jobs = jobs,
                                                .begin =
                                                    [&](Pass pass, u64 size) {
                                                      auto& heard = passes[pass];
                                                      heard.announced = size;
                                                      ++heard.begun;
                                                      return &heard;
                                                    }},
                                               findings);
    const auto& records = passes[Pass::records];
    CHECK(records.begun == 1);
    CHECK(records.announced == image.mft_size());
    CHECK(records.bytes == image.mft_size());
    CHECK(records.items == 3000);
    const auto& indexes = passes[Pass::indexes];
    CHECK(indexes.begun == 1);
    // Each buffer has 4096 bytes; the names alone fill more than two.
    CHECK(indexes.items > 2);
    CHECK(indexes.announced == indexes.items * 4096);
    CHECK(indexes.bytes == indexes.announced);
  }
}

}  // namespace
}  // namespace coldtrace
