#include <limits>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/trace_analysis/processors/slice_lanes.hpp"
#include "coldtrace/trace_analysis/processors/time_bins.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

i64 sum_of(const std::vector<i64>& values) {
  return std::accumulate(values.begin(), values.end(), i64{0});
}

}  // namespace

TEST_CASE("steps of time have what was added, each tick in its own") {
  std::mt19937 random{7};
  TimeBins bins;
  bins.begin(1000);
  std::vector<bool> taken;
  for (i64 at = 1000; at < 200'000;) {
    const auto length = static_cast<i64>(random() % 40);
    bins.add(at, at + length);
    taken.insert(taken.end(), static_cast<std::size_t>(length), true);
    const auto gap = static_cast<i64>(random() % 60);
    taken.insert(taken.end(), static_cast<std::size_t>(gap), false);
    at += length + gap;
  }
  REQUIRE(bins.bins().size() <= TimeBins::most_bins);
  REQUIRE(bins.bins().size() > TimeBins::most_bins / 3);
  const auto width = static_cast<std::size_t>(bins.width());
  for (std::size_t i = 0; i < bins.bins().size(); ++i) {
    i64 expected = 0;
    for (auto at = i * width; at < std::min(taken.size(), (i + 1) * width); ++at)
      expected += taken[at];
    CAPTURE(i);
    CHECK(bins.bins()[i] == expected);
  }
  const auto total = bins.total();
  bins.widen(bins.width() * 8);
  CHECK(sum_of(bins.bins()) == total);
}

TEST_CASE("what lies before the start, or takes no time, is in no step") {
  TimeBins bins;
  bins.begin(100);
  bins.add(0, 100);
  bins.add(150, 150);
  bins.add(170, 160);
  CHECK(bins.bins().empty());
  bins.add(90, 103);
  CHECK(bins.total() == 3);
}

TEST_CASE("steps of the longest time that ticks can count") {
  constexpr auto last = std::numeric_limits<i64>::max();
  TimeBins bins;
  bins.begin(std::numeric_limits<i64>::min());
  bins.add(std::numeric_limits<i64>::min(), last);
  bins.add(last - 1, last);
  CHECK(bins.bins().size() <= TimeBins::most_bins);
  CHECK(sum_of(bins.bins()) > last / 2);
}

TEST_CASE("joined slices lose no time and no turn, and what is not known stays apart") {
  std::mt19937 random{20};
  SliceLanes lanes;
  lanes.resize(2);
  lanes.begin(0);
  std::array<i64, 2> busy{}, unknown{};
  std::array<u64, 2> turns{};
  for (u16 cpu = 0; cpu < 2; ++cpu)
    for (i64 at = 0; turns[cpu] < 5000;) {
      const auto length = static_cast<i64>(random() % 100 + 1);
      const bool known = random() % 10 != 0;
      lanes.push(cpu, {at, at + length, known ? length : 0, 1, known ? length : 0,
                       known ? static_cast<Index>(random() % 7) : nobody, 0});
      (known ? busy : unknown)[cpu] += length;
      turns[cpu] += known;
      at += length + static_cast<i64>(random() % 50);
    }
  lanes.coarsen(3000);
  CHECK(lanes.slices() <= 3000);
  CHECK(lanes.grid() > 0);
  for (u16 cpu = 0; cpu < 2; ++cpu) {
    i64 at = 0;
    for (const auto& slice : lanes.all()[cpu]) {
      CHECK(slice.begin >= at);
      CHECK(slice.end - slice.begin >= slice.busy);
      CHECK(slice.longest <= slice.busy);
      CHECK((slice.turns == 1 || slice.end - slice.begin <= lanes.grid()));
      CHECK((slice.turns == 1 || slice.details == SliceLanes::no_details));
      at = slice.end;
      if (slice.thread == nobody) {
        unknown[cpu] -= slice.end - slice.begin;
      } else {
        busy[cpu] -= slice.busy;
        turns[cpu] -= slice.turns;
      }
    }
    CHECK(busy[cpu] == 0);
    CHECK(unknown[cpu] == 0);
    CHECK(turns[cpu] == 0);
  }
}
