#include "coldtrace/trace_analysis/scheduling/longest_waits.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "tests/tracefile/analysis/replayed_schedule.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using fixtures::RandomSchedule;
using fixtures::ReplayedSchedule;
using Step = RandomSchedule::Step;

struct Wait {
  u32 tid;
  i64 from, to;
  u8 reason;
  u32 waker;  // 0: an interrupt

  auto operator<=>(const Wait&) const = default;
};

// Of a run that misses nothing: from each switch-out to wait to the event that makes ready, once
// the thread runs again. Longest first.
std::vector<Wait> waits_of(const std::vector<Step>& steps) {
  std::map<u32, Wait> open, ended;
  std::vector<Wait> waits;
  for (const auto& step : steps) {
    if (!step.is_switch) {
      const auto wait = open.find(step.readied);
      if (wait == open.end()) continue;
      wait->second.to = step.time;
      wait->second.waker = step.waker;
      ended.insert(open.extract(wait));
      continue;
    }
    if (step.old_tid != 0 && step.old_state == 5)
      open[step.old_tid] = {step.old_tid, step.time, 0, step.reason, 0};
    if (const auto wait = ended.find(step.new_tid); wait != ended.end()) {
      waits.push_back(wait->second);
      ended.erase(wait);
    }
  }
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return std::tuple{b.to - b.from, a.from, a.tid} < std::tuple{a.to - a.from, b.from, b.tid};
  });
  return waits;
}

// What is told of the steps, or of all but one.
struct Told {
  Told(const std::vector<Step>& steps, u64 wanted, std::optional<std::size_t> without = {})
      : waits{wanted}, run{steps, waits, without}, longest{waits.longest()}, count{waits.count()} {}

  Wait wait(const LongWait& told) const {
    const auto& threads = run.population().threads();
    const auto waker = told.waker == nobody ? 0 : threads[told.waker].tid;
    return {threads[told.thread].tid, told.from, told.to, told.reason.value_or(255), waker};
  }

  LongestWaits waits;
  ReplayedSchedule run;
  std::vector<LongWait> longest;
  u64 count;
};

}  // namespace

TEST_CASE("the longest waits of made-up runs are the longest of all") {
  std::size_t waits = 0;
  for (u64 seed = 0; seed < 200; ++seed) {
    const RandomSchedule run{seed, 150};
    auto expected = waits_of(run.steps);
    waits += expected.size();
    for (const std::size_t wanted : {0U, 1U, 3U, 10U, 1000U}) {
      const Told told{run.steps, wanted};
      REQUIRE(told.count == expected.size());
      REQUIRE(told.longest.size() == std::min(wanted, expected.size()));
      i64 before = std::numeric_limits<i64>::max();
      for (std::size_t i = 0; i < told.longest.size(); ++i) {
        const auto& one = told.longest[i];
        REQUIRE(one.told);
        REQUIRE(one.in_dpc == (one.waker == nobody));
        REQUIRE(run.steps[one.event.offset].time == one.to);
        REQUIRE(one.to - one.from <= before);
        before = one.to - one.from;
        REQUIRE(told.wait(one) == expected[i]);
      }
    }
  }
  CHECK(waits > 3000);
}

TEST_CASE("an event that is missing makes no wait up") {
  u64 fewer = 0, off = 0;
  for (u64 seed = 0; seed < 1000; ++seed) {
    const RandomSchedule run{seed, 60};
    const auto all = waits_of(run.steps);
    const std::set<Wait> expected{all.begin(), all.end()};
    const Told told{run.steps, 1000, static_cast<std::size_t>(seed * 7 % run.steps.size())};
    if (told.count < expected.size()) ++fewer;
    for (const auto& one : told.longest) {
      if (one.told) {
        REQUIRE(expected.count(told.wait(one)) == 1);
        continue;
      }
      // Nothing tells when it became ready: it waited for a part of that time, and nobody ended it.
      ++off;
      REQUIRE(one.waker == nobody);
      REQUIRE(!one.in_dpc);
      REQUIRE(std::any_of(all.begin(), all.end(), [&](const Wait& wait) {
        return wait.tid == told.wait(one).tid && wait.from == one.from && wait.to <= one.to;
      }));
    }
  }
  CHECK(fewer > 300);
  CHECK(off > 100);
}

TEST_CASE("no more waits are kept than a page can have") {
  const RandomSchedule run{1, 40'000};
  REQUIRE(waits_of(run.steps).size() > LongestWaits::most_kept);
  CHECK(Told{run.steps, std::numeric_limits<u64>::max()}.longest.size() == LongestWaits::most_kept);
}
