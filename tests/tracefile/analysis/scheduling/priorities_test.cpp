#include "coldtrace/trace_analysis/scheduling/priorities.hpp"

#include <catch2/catch.hpp>

#include "tests/tracefile/analysis/recorded_run.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using fixtures::RecordedRun;

namespace {

using Kind = PriorityChange::Kind;
using Level = ThreadPriorities::Level;
constexpr u32 tid = 8;

// A processor that goes from its idle thread to thread 8 and back.
class Machine {
 public:
  Machine() { answer_.begin(observed_); }

  Machine& comes(i64 time, i8 priority) {
    return switches(time, idle(), thread(), 0, priority, ThreadState::running);
  }
  Machine& leaves(i64 time, i8 priority, ThreadState state = ThreadState::waiting) {
    return switches(time, thread(), idle(), priority, 0, state);
  }
  Machine& ready(i64 time, std::optional<Adjustment> adjustment = {}) {
    answer_.on_ready({at(time), thread(), nobody, false, adjustment});
    return *this;
  }
  Machine& change(i64 time, Kind kind, std::optional<i8> before, std::optional<i8> now) {
    answer_.on_priority_change({at(time), kind, thread(), nobody, before, now});
    return *this;
  }
  Machine& listed(i64 time, i8 base) {
    answer_.on_thread({at(time), Life::was_there, thread(), base, std::nullopt});
    return *this;
  }
  // The first switch of another processor: nobody saw the thread come there.
  Machine& leaves_elsewhere(i64 time) {
    ContextSwitch record{};
    record.moment = {time, u16{1}, {1, static_cast<u32>(time)}};
    record.old_thread = thread();
    record.new_thread = population_.idle_thread(1);
    record.old_state = ThreadState::waiting;
    record.old_priority = 9;
    answer_.on_switch(record);
    return *this;
  }
  // The switch before this one is missing.
  Machine& breaks() {
    current_ = nobody;
    return *this;
  }
  const Priorities& answer() {
    answer_.finish(observed_);
    return answer_;
  }
  const ThreadPriorities& one() { return answer().threads()[thread()]; }

 private:
  Moment at(i64 time) {
    observed_.last = time;
    return {time, u16{0}, {0, static_cast<u32>(time)}};
  }
  Index thread() { return population_.thread(tid); }
  Index idle() { return population_.idle_thread(0); }
  Machine& switches(i64 time, Index from, Index to, i8 out, i8 in, ThreadState state) {
    ContextSwitch record{};
    record.moment = at(time);
    record.old_thread = from;
    record.new_thread = to;
    record.continues = current_ == from;
    record.old_state = state;
    record.old_priority = out;
    record.new_priority = in;
    current_ = to;
    answer_.on_switch(record);
    return *this;
  }

  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, std::nullopt, std::nullopt};
  Priorities answer_;
  Index current_ = nobody;
};

constexpr Adjustment unwait{Adjustment::Reason::unwait, 2};
constexpr Adjustment boost{Adjustment::Reason::boost, 3};
constexpr Adjustment nothing{Adjustment::Reason::none, 0};

}  // namespace

TEST_CASE("a boost at the end of a wait begins when the thread is made ready, and decays") {
  Machine machine;
  machine.comes(100, 8).leaves(110, 8).ready(130, unwait).comes(140, 10).leaves(170, 9);
  const auto& answer = machine.answer();
  REQUIRE(answer.steps().size() == 2);
  const auto& raised = answer.steps()[0];
  CHECK(raised.cause == PriorityCause::unwait);
  CHECK((raised.before == 8 && raised.now == 10 && raised.increment == i8{2}));
  CHECK(raised.time() == 130);
  CHECK(raised.shown.time == 140);
  CHECK(raised.before_at == 110);
  const auto& fell = answer.steps()[1];
  CHECK(fell.cause == PriorityCause::decay);
  CHECK_FALSE(fell.told);
  CHECK((fell.before_at == 140 && fell.time() == 170));
  const auto& one = machine.one();
  CHECK(one.levels == std::vector<Level>{{8, 30}, {10, 10}});
  CHECK(one.changing == 30);
  CHECK(one.unknown == 0);
}

TEST_CASE("what raises a priority is what the events say, table") {
  struct Row {
    const char* why;
    std::optional<Adjustment> adjustment;
    std::optional<Kind> change;  // while it waits
    PriorityCause cause;
    bool told;
  };
  const auto row = GENERATE(values<Row>(
      {{"the end of a wait", unwait, {}, PriorityCause::unwait, true},
       {"a boost", boost, {}, PriorityCause::boost, true},
       {"an event that does not say it, after a wait", {}, {}, PriorityCause::unwait, true},
       {"an event that raises nothing", nothing, {}, PriorityCause::not_told, false},
       {"a new base", nothing, Kind::base, PriorityCause::base_set, false},
       {"starvation", nothing, Kind::starved, PriorityCause::starvation, false},
       {"the more exact one of two", unwait, Kind::base, PriorityCause::unwait, true}}));
  CAPTURE(row.why);
  Machine machine;
  machine.comes(100, 8).leaves(110, 8);
  if (row.change) machine.change(120, *row.change, i8{8}, i8{11});
  machine.ready(130, row.adjustment).comes(140, 11);
  const auto& answer = machine.answer();
  REQUIRE(answer.steps().size() == 1);
  CHECK(answer.steps()[0].cause == row.cause);
  CHECK(answer.steps()[0].told.has_value() == row.told);
  CHECK(machine.one().changing == (row.told ? 0 : 30));
}

TEST_CASE("a boost explains no more than it gives") {
  for (const auto& [seen, cause] :
       {std::pair{i8{11}, PriorityCause::unwait}, std::pair{i8{15}, PriorityCause::not_told}}) {
    Machine machine;
    machine.comes(100, 8).leaves(110, 8).ready(130, unwait).comes(140, seen);
    CHECK(machine.answer().steps().at(0).cause == cause);
  }
}

TEST_CASE("a priority that is set is another one from then on") {
  Machine machine;
  machine.comes(100, 8).change(120, Kind::priority, i8{8}, i8{12}).leaves(150, 12);
  const auto& one = machine.one();
  CHECK(one.levels == std::vector<Level>{{8, 20}, {12, 30}});
  const auto& step = machine.answer().steps().at(0);
  CHECK(step.cause == PriorityCause::set);
  CHECK(step.shown_by == PriorityStep::Shown::set);
  CHECK((step.time() == 120 && step.before_at == 120));
}

TEST_CASE("the owner of a lock has the priority of those who wait for it, and falls back") {
  Machine machine;
  machine.comes(100, 7).change(120, Kind::floor, i8{7}, i8{11}).leaves(150, 7);
  const auto& steps = machine.answer().steps();
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].cause == PriorityCause::auto_boost);
  CHECK(steps[1].cause == PriorityCause::decay);
}

TEST_CASE("a floor below the priority is none") {
  Machine machine;
  machine.comes(100, 12).change(120, Kind::floor, i8{12}, i8{11}).leaves(150, 12);
  CHECK(machine.answer().steps().empty());
}

TEST_CASE("a fall decays only to what is known to lie below") {
  SECTION("nothing is known") {
    Machine machine;
    machine.comes(100, 10).leaves(120, 8);
    CHECK(machine.answer().steps().at(0).cause == PriorityCause::not_told);
  }
  SECTION("its base is") {
    Machine machine;
    machine.listed(90, 8).comes(100, 10).leaves(120, 8);
    CHECK(machine.answer().steps().at(0).cause == PriorityCause::decay);
    CHECK(machine.one().base == i8{8});
    CHECK(machine.one().bases == 1U << 8U);
  }
  SECTION("and it falls below that") {
    Machine machine;
    machine.listed(90, 8).comes(100, 10).leaves(120, 7);
    CHECK(machine.answer().steps().at(0).cause == PriorityCause::not_told);
  }
  SECTION("its base was set") {
    Machine machine;
    machine.listed(90, 8).comes(100, 10).change(110, Kind::base, i8{8}, i8{6}).leaves(120, 6);
    CHECK(machine.answer().steps().at(0).cause == PriorityCause::base_set);
    CHECK(machine.one().bases == (1U << 8U | 1U << 6U));
  }
}

TEST_CASE("over a switch that is missing nothing is known") {
  Machine machine;
  machine.comes(100, 8).leaves(110, 8).ready(120, unwait).breaks().leaves(140, 8).ready(150);
  machine.comes(160, 8);
  const auto& one = machine.one();
  CHECK(one.levels == std::vector<Level>{{8, 10}});
  CHECK(one.unknown == 50);
}

TEST_CASE("a priority that is set tells nothing of a stay before it that nobody saw") {
  Machine machine;
  machine.comes(100, 8).leaves(110, 8).leaves_elsewhere(140);
  machine.change(150, Kind::priority, i8{8}, i8{12}).comes(160, 12);
  const auto& one = machine.one();
  CHECK(one.levels == std::vector<Level>{{8, 10}, {12, 10}});
  CHECK(one.unknown == 40);
}

TEST_CASE("a thread that is seen to come within the tick of a stay that nobody saw is followed") {
  Machine machine;
  machine.comes(100, 8).leaves_elsewhere(100).leaves(120, 8);
  CHECK(machine.one().levels == std::vector<Level>{{8, 20}});
}

TEST_CASE("a boost is told also where the priority is set before the thread runs") {
  const bool runs = GENERATE(true, false);
  CAPTURE(runs);
  Machine machine;
  machine.comes(100, 8).leaves(110, 8).ready(130, unwait);
  machine.change(135, Kind::priority, i8{10}, i8{12});
  if (runs) machine.comes(140, 12);
  const auto& steps = machine.answer().steps();
  REQUIRE(steps.size() == 2);
  CHECK((steps[0].cause == PriorityCause::unwait && steps[0].time() == 130));
  CHECK((steps[0].shown.time == 135 && steps[0].increment == i8{2}));
  CHECK((steps[1].cause == PriorityCause::set && steps[1].time() == 135));
  CHECK(machine.one().changing == 0);
}

TEST_CASE("a boost that comes after a priority was set does not raise it before") {
  Machine machine;
  machine.comes(100, 8).leaves(110, 8).change(120, Kind::priority, i8{10}, i8{12});
  machine.ready(130, unwait).comes(140, 12);
  CHECK(machine.answer().steps().at(0).cause == PriorityCause::not_told);
}

TEST_CASE("priorities that no thread has count nowhere: priority-impossible") {
  Machine machine;
  machine.comes(100, 40).leaves(110, -1).change(120, Kind::priority, i8{8}, i8{99});
  CHECK(machine.answer().impossible() == 3);
  CHECK(machine.answer().steps().empty());
}

TEST_CASE("beyond the changes that are kept a priority is unknown: priority-limit") {
  constexpr auto most = static_cast<i64>(Priorities::most_pending);
  Machine machine;
  machine.comes(100, 8);
  for (i64 i = 0; i < most; ++i) machine.change(110 + i, Kind::priority, i8{8}, i8{8});
  for (i64 i = 0; i < 5; ++i) machine.change(110 + most + i, Kind::priority, i8{8}, i8{8});
  machine.leaves(1000, 8);
  CHECK(machine.answer().changes_left_out() == 5);
  CHECK(machine.one().levels == std::vector<Level>{{8, 10 + most - 1}});
  CHECK(machine.one().unknown == 1000 - 110 - (most - 1));
}

TEST_CASE("steps beyond those that are kept are counted: priority-cut") {
  Machine many;
  for (i64 i = 0; i < static_cast<i64>(Priorities::most_steps) / 2 + 5; ++i)
    many.comes(100 + 4 * i, 8).leaves(102 + 4 * i, 9);
  CHECK(many.answer().steps().size() == Priorities::most_steps);
  CHECK(many.answer().more_steps() == 9);
}

TEST_CASE("a trace that lacks any one of its records has no priority for longer") {
  const auto* const name =
      GENERATE("priority-inversion", "server", "producer-consumer", "migration");
  CAPTURE(name);
  const RecordedRun run{name, 2, 6};
  const auto all = run.replay<Priorities>(run.size());
  i64 told = 0, shown = 0;
  const auto check = [&](const Priorities& answer) {
    for (Index i = 0; i < answer.threads().size(); ++i) {
      const auto* const truth = run.find_truth(i);
      if (truth == nullptr) continue;
      for (const auto& level : answer.threads()[i].levels) {
        if (level.time == 0) continue;
        const auto place = truth->priorities.find(level.priority);
        REQUIRE(place != truth->priorities.end());
        REQUIRE(static_cast<u64>(level.time) <= place->second);
        told += level.time;
      }
    }
  };
  check(*all);
  shown = std::exchange(told, 0);
  CHECK(shown > 0);
  for (std::size_t without = 0; without < run.size(); ++without) {
    CAPTURE(without);
    check(*run.replay<Priorities>(without));
  }
}
