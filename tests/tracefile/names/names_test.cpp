#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/names/timeline.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::EtlBuffer;
using Verb = NameRecord::Verb;

Timeline::Entry record(u64 key, i64 time, u32 value, Verb verb) {
  return {key, time, 1, value & 0xffffU, static_cast<u32>(verb) & 3U};
}

}  // namespace

TEST_CASE("millions of uses of few ids are kept, repetitions are not") {
  constexpr i64 uses = 1'200'000;
  constexpr u64 ids = 1000;
  Timeline timeline;
  for (i64 i = 0; i < uses; ++i) {
    const u64 id = static_cast<u64>(i) % ids;
    // Every second id always has the same name.
    const u32 value = id % 2 == 0 ? 7 : 1 + static_cast<u32>(i % 977);
    timeline.add(record(id, 10 * i, value, Verb::begins));
    timeline.add(record(id, 10 * i + 5, value, Verb::ends));
  }
  timeline.finish();
  CHECK(timeline.size() < uses);
  CHECK(timeline.bytes() < 24U * 3'500'000);
  std::size_t wrong = 0;
  for (i64 i = 0; i < uses; i += 7) {
    const u64 id = static_cast<u64>(i) % ids;
    const u32 value = id % 2 == 0 ? 7 : 1 + static_cast<u32>(i % 977);
    for (const i64 time : {10 * i, 10 * i + 5, 10 * i + 9}) {
      const auto* found = timeline.find(id, time);
      if (found == nullptr || found->value != value) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

// A live session's buffers are in the order of their flush.
TEST_CASE("records may come late") {
  std::vector<Timeline::Entry> records;
  for (i64 i = 0; i < 3'000'000; ++i)
    records.push_back(
        record(static_cast<u64>(i % 5000), i, 1 + static_cast<u32>(i / 5000 % 50), Verb::begins));
  std::minstd_rand random{1};
  for (std::size_t start = 0; start + 2000 <= records.size(); start += 2000)
    std::shuffle(records.begin() + static_cast<std::ptrdiff_t>(start),
                 records.begin() + static_cast<std::ptrdiff_t>(start) + 2000, random);
  Timeline timeline;
  for (const auto& one : records) timeline.add(one);
  timeline.finish();
  std::size_t wrong = 0;
  for (i64 i = 0; i < 3'000'000; i += 13) {
    const auto* found = timeline.find(static_cast<u64>(i % 5000), i + 4999);
    if (found == nullptr || found->value != 1 + static_cast<u32>(i / 5000 % 50)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what only the end of a trace names had its name all along, and an end is none") {
  Timeline timeline;
  timeline.add(record(1, 100, 5, Verb::exists_after));
  timeline.add(record(2, 50, 6, Verb::begins));
  timeline.add(record(2, 60, 6, Verb::ends));
  timeline.add(record(2, 90, 7, Verb::ends));
  timeline.finish();
  CHECK(timeline.find(1, -1'000'000)->value == 5);
  CHECK(timeline.find(2, 49) == nullptr);
  CHECK(timeline.find(2, 59)->value == 6);
  CHECK(timeline.find(2, 61)->value == 7);  // of a use whose beginning nothing is known of
  CHECK(timeline.find(3, 0) == nullptr);
}

}  // namespace coldtrace::tracefile
