#include "coldtrace/trace_analysis/scheduling/schedule.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/tracefile/analysis/replayed_schedule.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using fixtures::RandomSchedule;
using fixtures::ReplayedSchedule;
using Step = RandomSchedule::Step;

// The schedule of the steps, or of all but one.
struct Replay {
  explicit Replay(const std::vector<Step>& steps, std::optional<std::size_t> without = {})
      : run{steps, schedule, without},
        threads{schedule.threads()},
        processors{schedule.processors()},
        counts{schedule.turns().counts()},
        elapsed{schedule.elapsed()} {}

  ThreadSchedule thread(u32 number) {
    const auto index = run.thread(number * 4);
    return index < threads.size() ? threads[index] : ThreadSchedule{};
  }
  RandomSchedule::Times times(u32 number) {
    const auto one = thread(number);
    RandomSchedule::Times times{one.running, one.ready, one.waiting, {}};
    for (const auto& wait : one.waits) times.waits.at(wait.reason) = wait.count;
    return times;
  }

  Schedule schedule;
  ReplayedSchedule run;
  std::vector<ThreadSchedule> threads;
  std::map<u16, ProcessorSchedule> processors;
  Turns::Counts counts;
  i64 elapsed;
};

}  // namespace

TEST_CASE("the schedule of made-up runs is where their time went") {
  for (u64 seed = 0; seed < 200; ++seed) {
    const RandomSchedule run{seed, 150};
    Replay answer{run.steps};
    REQUIRE(answer.counts.broken == 0);
    REQUIRE(answer.counts.overlapping == 0);
    REQUIRE(answer.counts.superfluous == 0);
    for (u32 i = 1; i <= RandomSchedule::threads; ++i) REQUIRE(answer.times(i) == run.times[i]);
    i64 sum = 0;
    for (const auto& [cpu, one] : answer.processors) {
      REQUIRE(one.busy == run.busy[cpu]);
      REQUIRE(one.idle == run.idle[cpu]);
      REQUIRE(one.busy + one.idle + one.unknown == answer.elapsed);
      sum += one.busy + one.idle;
    }
    for (const auto& one : answer.threads) sum -= one.running;
    REQUIRE(sum == 0);
  }
}

TEST_CASE("an event that is missing makes time unknown and adds none") {
  u64 noticed = 0;
  for (u64 seed = 0; seed < 1000; ++seed) {
    const RandomSchedule run{seed, 60};
    const auto removed = static_cast<std::size_t>(seed * 7 % run.steps.size());
    Replay answer{run.steps, removed};
    noticed += answer.counts.broken;
    for (u32 i = 1; i <= RandomSchedule::threads; ++i) {
      const auto times = answer.times(i);
      REQUIRE(times.running <= run.times[i].running);
      REQUIRE(times.ready <= run.times[i].ready);
      REQUIRE(times.waiting <= run.times[i].waiting);
    }
    for (const auto& [cpu, one] : answer.processors) {
      REQUIRE(one.busy <= run.busy[cpu]);
      REQUIRE(one.idle <= run.idle[cpu]);
      REQUIRE(one.unknown >= 0);
    }
  }
  CHECK(noticed > 300);
}

TEST_CASE("a thread that moves within a tick is on one processor") {
  const std::vector<Step> steps = {
      {100, 0, true, 0, 4, 2, 0, 0, 0},  // thread 4 on processor 0
      {100, 1, true, 8, 0, 5, 6, 0, 0},
      {150, 1, true, 0, 4, 2, 0, 0, 0},  // switched in on 1 before it is switched out on 0
      {150, 0, true, 4, 0, 7, 31, 0, 0},
      {180, 1, true, 4, 0, 5, 6, 0, 0},
      {200, 0, true, 0, 12, 2, 0, 0, 0},
  };
  Replay answer{steps};
  CHECK(answer.counts.overlapping == 0);
  const auto moved = answer.thread(1);
  CHECK(moved.running == 80);
  CHECK(moved.ready == 0);
  CHECK(moved.unknown == 0);
  CHECK(answer.processors.at(0).idle == 50);
}

TEST_CASE("a thread that is made ready in the tick in which it leaves did not wait") {
  const std::vector<Step> steps = {
      {100, 1, true, 0, 4, 2, 0, 0, 0},  {140, 0, false, 0, 0, 0, 0, 4, 8},
      {140, 1, true, 4, 0, 5, 15, 0, 0}, {160, 1, true, 0, 4, 2, 0, 0, 0},
      {170, 1, true, 4, 0, 5, 15, 0, 0},
  };
  Replay answer{steps};
  const auto thread = answer.thread(1);
  CHECK(thread.waiting == 0);
  CHECK(thread.ready == 20);
  CHECK(thread.running == 50);
  REQUIRE(thread.waits.size() == 1);
  CHECK(thread.waits[0].count == 1);
}

TEST_CASE("who is made ready in the tick in which it leaves was woken by somebody") {
  for (const bool in_dpc : {true, false}) {
    std::vector<Turn> told;
    Turns turns{[&](const Turn& turn) { told.push_back(turn); }};
    Population population;
    const Losses losses;
    const Observed observed{population, losses, 100, 170};
    const auto idle = population.idle_thread(1);
    const auto thread = population.thread(4);
    const auto waker = in_dpc ? nobody : population.thread(8);
    const auto change = [&](i64 time, Index from, Index to) {
      ContextSwitch record{};
      record.moment = {time, 1, {}};
      record.old_thread = from;
      record.new_thread = to;
      record.continues = true;
      record.old_state = ThreadState::waiting;
      turns.on_switch(record);
    };
    turns.begin(observed);
    change(100, idle, thread);
    turns.on_ready({{140, 0, {}}, thread, waker, in_dpc});
    change(140, thread, idle);
    change(160, idle, thread);
    change(170, thread, idle);
    turns.finish(observed);
    const auto again =
        std::find_if(told.begin(), told.end(), [](const Turn& turn) { return turn.begin == 160; });
    REQUIRE(again != told.end());
    CHECK(again->readied == 140);
    CHECK(again->waker == waker);
    CHECK(again->woken_in_dpc == in_dpc);
  }
}

TEST_CASE("times that run backwards add nothing") {
  const std::vector<Step> steps = {
      {500, 0, true, 0, 4, 2, 0, 0, 0},
      {100, 0, true, 4, 0, 5, 6, 0, 0},
      {50, 0, false, 0, 0, 0, 0, 4, 8},
      {400, 0, true, 0, 4, 2, 0, 0, 0},
  };
  Replay answer{steps};
  const auto thread = answer.thread(1);
  CHECK(thread.running == 0);
  CHECK(thread.ready == 0);
  CHECK(thread.waiting == 0);
}
