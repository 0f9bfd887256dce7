#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "fixtures/builders/ntfs_image.hpp"
#include "tests/ntfs/image_edits.hpp"
#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::NtfsImage;
using tests::attribute_at;
using tests::snapshot_of;

// One stream that is bent after it was built; the rest of the volume is sound.
struct SizeRow {
  const char* why;
  const char* code;
  std::vector<fixtures::NtfsRun> runs;
  u64 size;
  u16 flags;
  std::function<void(ByteWriter&, u64)> bend;  // the record, and where $DATA is in it
};

TEST_CASE("sizes of a stream agree with its clusters, or there is a finding") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 c = image.allocate(32);
  const auto nothing = [](ByteWriter&, u64) {};
  const auto put = [](u64 field, u64 value) {
    return [=](ByteWriter& w, u64 at) { w.patch<u64>(at + field, value); };
  };
  const std::vector<SizeRow> table{
      {"plain", nullptr, {{c, 3}}, 10000, 0, nothing},
      {"preallocated", nullptr, {{c, 8}}, 100, 0, nothing},
      {"valid to its middle", nullptr, {{c, 3}}, 10000, 0, put(0x38, 5000)},
      {"empty, with no clusters", nullptr, {}, 0, 0, nothing},
      {"sparse", nullptr, {{c, 1}, {std::nullopt, 15}}, 60000, 0x8000, nothing},
      {"sparse, one hole", nullptr, {{std::nullopt, 4096}}, 10'000'000, 0x8000, put(0x38, 0)},
      {"a hole without the sparse flag",
       "stream-gap",
       {{std::nullopt, 256}},
       1'048'576,
       0,
       put(0x38, 0)},
      {"compressed", nullptr, {{c, 7}, {std::nullopt, 9}, {c + 8, 16}}, 130000, 1, nothing},
      {"encrypted, valid to the end of its last sector",
       nullptr,
       {{c, 1}},
       1000,
       0x4000,
       put(0x38, 1024)},
      {"longer than what is mapped",
       "stream-gap",
       {{c, 3}},
       10000,
       0,
       [](ByteWriter& w, u64 at) {
         w.patch<u64>(at + 0x28, 8'000'000).patch<u64>(at + 0x30, 8'000'000);
       }},
      {"sparse, longer than what is mapped",
       "stream-gap",
       {{c, 1}, {std::nullopt, 15}},
       60000,
       0x8000,
       [](ByteWriter& w, u64 at) {
         w.patch<u64>(at + 0x28, 8'000'000).patch<u64>(at + 0x30, 8'000'000);
       }},
      {"longer than what is allocated", "stream-size", {{c, 3}}, 10000, 0, put(0x28, 8192)},
      {"more valid than it has", "stream-valid", {{c, 3}}, 10000, 0, put(0x38, 10001)},
      {"more valid than encryption pads", "stream-valid", {{c, 1}}, 1000, 0x4000, put(0x38, 1600)},
      {"nothing allocated and three clusters", "stream-allocated", {{c, 3}}, 0, 0, put(0x28, 0)},
      {"more allocated than mapped", "stream-allocated", {{c, 3}}, 100, 0, put(0x28, 0x10000)},
      {"compressed, with other clusters than it says",
       "stream-allocated",
       {{c, 7}, {std::nullopt, 9}},
       60000,
       1,
       put(0x40, 0x10000)},
  };
  for (const auto& row : table) {
    CAPTURE(row.why);
    NtfsImage volume = image;
    ByteWriter stream;
    if (row.runs.empty()) {
      stream.write_bytes(fixtures::make_non_resident(0x80, 9, {{c, 1}}, 0, 4096));
      // No clusters: the highest VCN is -1, and the run list is its end.
      stream.patch<u64>(0x18, ~u64{0}).patch<u64>(0x28, 0).patch<u8>(0x40, 0);
    } else {
      stream.write_bytes(
          fixtures::make_non_resident(0x80, 9, row.runs, row.size, 4096, u"", row.flags));
    }
    const u64 file = volume.add({.names = {{.parent = 5, .name = u"file", .size = row.size}}});
    volume.file(file).raw_attributes.push_back(stream.bytes());
    volume.edit_record(file, [&](ByteWriter& w) { row.bend(w, attribute_at(w.view(), 0x80)); });
    const auto seen = snapshot_of(volume.build(), {.states = tests::all_states});
    if (row.code == nullptr) {
      for (const auto& finding : seen.findings.all()) UNSCOPED_INFO(finding.text);
      CHECK(seen.findings.empty());
    } else {
      const auto warnings = std::ranges::count(seen.findings.all(), core::Severity::warning,
                                               &core::Finding::severity);
      CHECK(warnings == 1);
      CHECK(seen.findings.count(row.code) == 1);
      CHECK(seen.find("/file")->has(row.code));
    }
    // Of a deleted file half may be overwritten: no reason to warn.
    volume.file(file).in_use = false;
    CHECK_FALSE(snapshot_of(volume.build(), {.states = tests::all_states}).warns());
  }
}

TEST_CASE("clusters of two files in use are told of both") {
  NtfsImage image{{.clusters = 256, .records = 60}};
  const u64 c = image.allocate(40);
  const auto add = [&](std::u16string name, std::vector<fixtures::NtfsRun> runs,
                       bool in_use = true) {
    u64 clusters = 0;
    for (const auto& run : runs) clusters += run.clusters;
    return image.add({.names = {{.parent = 5, .name = name, .size = clusters * 4096}},
                      .streams = {{.runs = runs, .size = clusters * 4096}},
                      .in_use = in_use});
  };
  add(u"alone", {{c, 4}});
  add(u"next to it", {{c + 4, 4}});
  add(u"deleted", {{c, 8}}, false);
  SECTION("healthy") {
    CHECK_FALSE(snapshot_of(image.build()).warns());
  }
  SECTION("two, in part") {
    const u64 first = add(u"first", {{c + 10, 8}});
    const u64 second = add(u"second", {{c + 30, 1}, {c + 15, 5}});
    const auto bytes = image.build();
    for (const unsigned jobs : {1U, 3U}) {
      const auto seen = snapshot_of(bytes, {.jobs = jobs});
      CHECK(seen.findings.count("cluster-shared") == 2);
      CHECK(seen.find("/first")->texts ==
            std::vector{"3 clusters also belong to other files in use, first to record " +
                        std::to_string(second)});
      CHECK(seen.find("/second")->texts ==
            std::vector{"3 clusters also belong to other files in use, first to record " +
                        std::to_string(first)});
      CHECK(seen.find("/alone")->codes.empty());
    }
  }
  SECTION("three, one inside the other") {
    add(u"large", {{c + 10, 20}});
    add(u"inside", {{c + 12, 2}});
    add(u"inside too", {{c + 20, 2}, {c + 13, 1}});
    const auto seen = snapshot_of(image.build());
    CHECK(seen.findings.count("cluster-shared") == 3);
    CHECK(seen.find("/large")->texts[0].substr(0, 10) == "4 clusters");
    CHECK(seen.find("/inside too")->texts[0].substr(0, 10) == "3 clusters");
  }
  SECTION("one file, twice") {
    add(u"twice", {{c + 10, 4}, {c + 12, 4}});
    const auto seen = snapshot_of(image.build());
    CHECK(seen.findings.count("cluster-shared") == 1);
  }
  SECTION("of the file system itself") {
    add(u"over $MFT", {{image.mft_lcn() + 1, 1}});
    const auto seen = snapshot_of(image.build());
    CHECK(seen.find("/$MFT")->has("cluster-shared"));
  }
}

TEST_CASE("who has clusters does not depend on the order in which records are looked at") {
  NtfsImage image;
  const u64 c = image.allocate(64);
  const auto add = [&](std::u16string name, std::vector<fixtures::NtfsRun> runs,
                       bool in_use = true) {
    u64 clusters = 0;
    for (const auto& run : runs) clusters += run.clusters;
    return image.add({.names = {{.parent = 5, .name = name, .size = clusters * 4096}},
                      .streams = {{.runs = runs, .size = clusters * 4096}},
                      .in_use = in_use,
                      .sequence = static_cast<u16>(in_use ? 1 : 2)});
  };
  std::vector<u64> live{add(u"inside", {{c + 5, 15}}), add(u"large", {{c, 40}}),
                        add(u"first", {{c, 2}})};
  add(u"gone", {{c + 7, 3}}, false);
  const auto bytes = image.build();
  const core::MemoryImage source{bytes};
  core::Findings findings;
  const auto volume = ntfs::Volume::open(source, 0, source.size(), findings);
  const auto snapshot = ntfs::Snapshot::take(*volume, {}, findings);
  const auto by_eight = snapshot_of(bytes, {.jobs = 8}), by_one = snapshot_of(bytes, {.jobs = 1});
  CHECK(by_eight.findings.all().size() == by_one.findings.all().size());
  std::set<std::vector<std::string>> answers;
  std::ranges::sort(live);
  do {
    ntfs::ClusterMarks marks{volume->mft().clusters(), source.size()};
    ntfs::RecordFacts facts;
    for (const u64 record : live) {
      snapshot.records().unpack(record, facts);
      marks.mark(facts);
    }
    const auto owners = ntfs::ClusterOwners::find(volume->mft(), snapshot.records(), marks);
    ntfs::Walk walk{snapshot, tests::all_states};
    ntfs::RowBatch batch;
    ntfs::FileRow row;
    std::vector<std::string> answer;
    while (walk.next(batch)) {
      for (const auto& name : batch.rows) {
        snapshot.build_row(batch, name, row);
        row.findings.clear();
        owners.note_common(row);
        for (const auto& finding : row.findings)
          answer.push_back(to_utf8(row.name) + ": " + finding.text);
      }
    }
    CHECK(answer.size() == 4);
    answers.insert(answer);
  } while (std::ranges::next_permutation(live).found);
  CHECK(answers.size() == 1);
}

}  // namespace
}  // namespace coldtrace
