#include "coldtrace/trace_analysis/comparison/trace_comparison.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

KindTally kind(u16 number, u64 events) {
  KindTally made{};
  made.number = number;
  made.events = events;
  return made;
}

TraceTally tally_of(std::vector<KindTally> kinds, u64 duration) {
  TraceTally tally;
  for (const auto& one : kinds) tally.events += one.events;
  tally.kinds = std::move(kinds);
  tally.duration = duration;
  return tally;
}

constexpr u64 second = 10'000'000;  // of 100 ns

}  // namespace

TEST_CASE("kinds disappear, appear or change, the largest difference first") {
  const auto before = tally_of({kind(1, 10), kind(2, 5), kind(3, 7), kind(4, 1)}, second);
  const auto after = tally_of({kind(1, 10), kind(3, 9), kind(4, 100), kind(5, 1)}, second);
  const auto found = compare(before, after, {});
  CHECK_FALSE(found.same());
  CHECK(found.same_kinds == 1);
  REQUIRE(found.kinds.size() == 4);
  CHECK(found.kinds[0].change == Change::disappeared);
  CHECK(found.kinds[0].kind.number == 2);
  CHECK(found.kinds[1].change == Change::appeared);
  CHECK(found.kinds[1].kind.number == 5);
  CHECK(found.kinds[2].kind.number == 4);
  CHECK(found.kinds[2].before == 1);
  CHECK(found.kinds[2].after == 100);
  CHECK(found.kinds[3].kind.number == 3);
}

TEST_CASE("no more than the threshold is not a difference") {
  const auto before = tally_of({kind(1, 100)}, second);
  CHECK(compare(before, tally_of({kind(1, 110)}, second), {.threshold = 10}).same());
  CHECK_FALSE(compare(before, tally_of({kind(1, 111)}, second), {.threshold = 10}).same());
}

TEST_CASE("by rate twice the events in twice the time are the same") {
  const auto before = tally_of({kind(1, 100)}, second);
  const auto after = tally_of({kind(1, 200)}, 2 * second);
  CHECK_FALSE(compare(before, after, {}).same());
  CHECK(compare(before, after, {.by_rate = true}).same());
  CHECK(rate_of(3, after) == 1500);
  CHECK_FALSE(rate_of(3, tally_of({}, 0)));
}

TEST_CASE("events of more kinds than are kept are a warning, and none of a whole tally") {
  core::Findings whole, limited;
  note_tally(tally_of({kind(1, 10)}, second), whole);
  CHECK(whole.empty());
  auto tally = tally_of({kind(1, 10)}, second);
  tally.left_out = 3;
  tally.unread_buffers = 2;
  note_tally(tally, limited);
  REQUIRE(limited.all().size() == 2);
  CHECK(limited.count("compare-limit") == 1);
  CHECK(limited.all()[0].text.starts_with("3 events are of kinds, or start tasks"));
  CHECK(limited.count("trace-changed") == 1);
  CHECK(limited.has_warnings());
}
