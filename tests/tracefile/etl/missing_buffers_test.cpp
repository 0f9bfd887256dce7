#include <map>

#include <catch2/catch.hpp>

#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {

TEST_CASE("a hole in the numbers of the buffers is a gap before the buffer behind it") {
  auto buffers = overlapping_buffers(3);
  buffers[2].sequence(5);  // 1 2 5 6 7 8
  const auto open = open_bytes(fixtures::build_etl({}, buffers));
  CHECK(open.findings.count("gap-buffers-missing") == 1);
  for (const auto order : {Order::time, Order::file}) {
    const auto gaps = all_gaps(*open.trace, {.order = order});
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].reason == Gap::Reason::buffers_missing);
    CHECK(gaps[0].buffers == 2);
    CHECK(gaps[0].offset == 3 * 4096);
    CHECK(gaps[0].length == 0);
    CHECK(gaps[0].cpu == std::nullopt);
    CHECK(gaps[0].timestamp == open.trace->scan().buffers[2].last_time);
  }
}

TEST_CASE("a file that was cut between two buffers has a gap at its end") {
  const auto bytes = fixtures::build_etl({}, overlapping_buffers(3));
  for (const u64 cut : {1U, 3U, 6U}) {
    CAPTURE(cut);
    const auto part = core::ByteView{bytes}.first(bytes.size() - cut * 4096);
    const core::MemoryImage image{part};
    core::Findings findings;
    const auto trace = Trace::open(image, {}, findings);
    REQUIRE(trace);
    CHECK(findings.count("gap-buffers-missing") == 1);
    for (const auto order : {Order::time, Order::file}) {
      const auto gaps = all_gaps(*trace, {.order = order});
      REQUIRE(gaps.size() == 1);
      CHECK(gaps[0].reason == Gap::Reason::buffers_missing);
      CHECK(gaps[0].buffers == cut);
      CHECK(gaps[0].offset == part.size());
      CHECK(gaps[0].timestamp == trace->scan().buffers.back().last_time);
    }
  }
}

TEST_CASE("the place of a hole follows the numbers, not the file") {
  auto buffers = overlapping_buffers(2);
  buffers[0].sequence(4);
  buffers[1].sequence(1);
  buffers[2].sequence(6);
  buffers[3].sequence(2);
  const auto open = open_bytes(fixtures::build_etl({}, buffers));
  const auto gaps = all_gaps(*open.trace);
  REQUIRE(gaps.size() == 2);
  std::map<u64, u64> missing;
  for (const auto& gap : gaps) missing[gap.offset] = gap.buffers;
  CHECK(missing == std::map<u64, u64>{{1 * 4096, 1}, {3 * 4096, 1}});
}

TEST_CASE("numbers that repeat say nothing, nor does the start of a circular file") {
  auto buffers = overlapping_buffers(2);
  buffers[2].sequence(1);
  const auto repeated = open_bytes(fixtures::build_etl({}, buffers));
  CHECK(all_gaps(*repeated.trace).empty());
  CHECK(repeated.findings.count("buffer-sequence") == 0);
  // Where as many numbers are missing as repeat, each is told.
  buffers[3].sequence(4);
  CHECK(open_bytes(fixtures::build_etl({}, buffers)).findings.count("buffer-sequence") == 1);
  buffers = overlapping_buffers(2);
  buffers[0].sequence(100);
  constexpr u32 circular = 2;
  const auto open = open_bytes(fixtures::build_etl({.log_file_mode = circular}, buffers));
  CHECK(all_gaps(*open.trace).empty());
  CHECK(open.findings.count("gap-buffers-missing") == 0);
  CHECK(all_gaps(*open_bytes(fixtures::build_etl({}, buffers)).trace).size() == 1);
}

TEST_CASE("what a session that keeps its last buffers has overwritten is told") {
  struct Row {
    u32 mode;
    u64 first;  // number of the first buffer behind that of the header
    bool overwritten;
  };
  const auto row = GENERATE(values<Row>({{0x2, 100, true},
                                         {0x400, 100, true},
                                         {0x2, 2, true},
                                         {0x2, 1, false},
                                         {0x8, 100, false},
                                         {0x1, 100, false}}));
  CAPTURE(row.mode, row.first);
  auto buffers = overlapping_buffers(2);
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].sequence(row.first + i);
  const auto open = open_bytes(fixtures::build_etl({.log_file_mode = row.mode}, buffers));
  CHECK((open.findings.count("buffers-overwritten") == 1) == row.overwritten);
  CHECK(open.trace->scan().overwritten == row.overwritten);
}

TEST_CASE("of a file that was cut before its newest buffers nothing is said to be overwritten") {
  auto buffers = overlapping_buffers(2);
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].sequence(2 + i);
  const auto newest = static_cast<u32>(buffers.size()) + 1;
  for (const u32 written : {newest + 1, newest + 2})
    for (const auto end : {std::optional<u64>{}, std::optional{u64{0}}}) {
      CAPTURE(written, end.has_value());
      const auto open = open_bytes(fixtures::build_etl(
          {.log_file_mode = 0x2, .end_time = end, .buffers_written = written}, buffers));
      const bool is_cut = written == newest + 2 && !end;
      CHECK(open.findings.count("buffers-overwritten") == (is_cut ? 0 : 1));
      CHECK(open.findings.count("buffer-count") >= (is_cut ? 1 : 0));
    }
}

}  // namespace coldtrace::tracefile
