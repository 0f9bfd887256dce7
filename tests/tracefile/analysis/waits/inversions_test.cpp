#include "coldtrace/trace_analysis/waits/inversions.hpp"

#include <catch2/catch.hpp>

#include "tests/tracefile/analysis/recorded_run.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using fixtures::RecordedRun;

namespace {

using Inversion = Inversions::Inversion;
constexpr auto ready = ThreadState::ready;
constexpr auto waiting = ThreadState::waiting;

// Threads a, b, c, ... with fixed priorities on two processors; '-' is the idle thread.
class Machine {
 public:
  Machine() { answer_.begin(observed_); }

  Machine& has(char thread, i8 priority) {
    priorities_[thread] = priority;
    return *this;
  }
  // l, h, m and n have these.
  Machine& levels(i8 m = 8, i8 n = 8) { return has('l', 6).has('h', 12).has('m', m).has('n', n); }
  Machine& runs(i64 time, u16 cpu, char thread, ThreadState old_state = ready) {
    ContextSwitch record{};
    record.moment = at(time, cpu);
    auto& current = current_.at(cpu);
    record.continues = current.has_value();
    record.old_thread = index(current.value_or('-'), cpu);
    record.new_thread = index(thread, cpu);
    record.old_state = old_state;
    record.old_priority = priorities_[current.value_or('-')];
    record.new_priority = priorities_[thread];
    current = thread;
    answer_.on_switch(record);
    return *this;
  }
  Machine& breaks(u16 cpu) {
    current_.at(cpu).reset();
    return *this;
  }
  Machine& readied(i64 time, char thread) {
    answer_.on_ready({at(time, 0), index(thread, 0), nobody, false});
    return *this;
  }
  Machine& wants(i64 time, char thread, u64 mutant, ObjectKind kind = ObjectKind::mutant) {
    const WaitedObject object{mutant, kind};
    answer_.on_wait_begin(
        {at(time, 0), index(thread, 0), {&object, 1}, WaitNeeds::not_known, 6, std::nullopt});
    return *this;
  }
  Machine& gets(i64 time, char thread, u64 mutant, u32 status = 0) {
    const WaitedObject object{mutant, ObjectKind::mutant};
    answer_.on_wait_end({at(time, 0), index(thread, 0), object, status, index(thread, 0)});
    return *this;
  }
  Machine& takes(i64 time, char thread, u64 mutant) {
    return wants(time, thread, mutant).gets(time, thread, mutant);
  }
  Machine& may_use(char thread, u64 affinity) {
    answer_.on_thread({at(1, 0), Life::was_there, index(thread, 0), std::nullopt, affinity});
    return *this;
  }
  const Inversions& answer() {
    if (!std::exchange(finished_, true)) answer_.finish(observed_);
    return answer_;
  }
  Index index(char thread, u16 cpu = 0) {
    return thread == '-' ? population_.idle_thread(cpu)
                         : population_.thread(static_cast<u32>(4 * (thread - 'a' + 2)));
  }

 private:
  Moment at(i64 time, u16 cpu) {
    if (!observed_.first) observed_.first = time;
    observed_.last = time;
    return {time, cpu, {cpu, static_cast<u32>(time)}};
  }

  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, std::nullopt, std::nullopt};
  Inversions answer_;
  std::vector<std::optional<char>> current_ = std::vector<std::optional<char>>(2);
  std::map<char, i8> priorities_{{'-', 0}};
  bool finished_ = false;
};

// The thread l takes the mutant 1, h wants it, m and n take both processors.
void play(Machine& machine) {
  machine.runs(100, 0, '-').runs(100, 1, '-');
  machine.runs(110, 0, 'l').takes(120, 'l', 1);
  machine.runs(125, 1, 'h').wants(130, 'h', 1).runs(130, 1, '-', waiting);
  machine.runs(140, 1, 'n').runs(150, 0, 'm');  // l is pushed off
  machine.runs(190, 0, 'l', waiting).runs(200, 1, '-', waiting);
  machine.gets(210, 'h', 1).readied(210, 'h').runs(212, 1, 'h').runs(230, 1, '-', waiting);
  machine.runs(240, 0, '-', waiting);
}

}  // namespace

TEST_CASE("who holds the mutant is ready while threads between the two run") {
  Machine machine;
  machine.levels();
  play(machine);
  const auto& answer = machine.answer();
  REQUIRE(answer.inversions().size() == 1);
  const auto& one = answer.inversions()[0];
  CHECK(one.high == machine.index('h'));
  CHECK(one.low == machine.index('l'));
  CHECK((one.high_priority == 12 && one.low_priority == 6));
  CHECK((one.from == 150 && one.to == 190 && one.time == 40 && one.stretches == 1));
  CHECK((one.waits_since.time == 130 && one.waits_until == 210));
  CHECK(one.owned_since.time == 120);
  CHECK(one.ready_at == Place{0, 150});
  REQUIRE(one.middles.size() == 2);
  for (const auto& middle : one.middles) {
    CHECK(middle.time == 40);
    CHECK(middle.priority == 8);
    CHECK(middle.since.time == (middle.thread == machine.index('m') ? 150 : 140));
  }
}

TEST_CASE("that is none, table") {
  struct Row {
    const char* why;
    i8 m, n;
    u64 inversions;
  };
  const auto row = GENERATE(values<Row>({{"both between", 8, 8, 1},
                                         {"one is as high as who waits", 8, 12, 1},
                                         {"both are", 12, 12, 0},
                                         {"both are as low as the owner", 6, 6, 0},
                                         {"one is, the other between", 6, 8, 1},
                                         {"one is lower than the owner", 5, 8, 0}}));
  CAPTURE(row.why);
  Machine machine;
  machine.levels(row.m, row.n);
  play(machine);
  CHECK(machine.answer().inversions().size() == row.inversions);
}

TEST_CASE("an idle processor could have the owner") {
  Machine machine;
  machine.has('l', 6).has('h', 12).has('m', 8);
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(120, 'l', 1);
  machine.runs(125, 1, 'h').wants(130, 'h', 1).runs(130, 1, '-', waiting).runs(150, 0, 'm');
  machine.runs(190, 0, 'l', waiting).gets(210, 'h', 1).runs(220, 1, 'h').runs(230, 1, '-', waiting);
  machine.runs(240, 0, '-', waiting);
  CHECK(machine.answer().inversions().empty());
}

TEST_CASE("a turn whose end nobody saw proves nothing") {
  Machine machine;
  machine.levels();
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(120, 'l', 1);
  machine.runs(125, 1, 'h').wants(130, 'h', 1).runs(130, 1, '-', waiting);
  machine.runs(140, 1, 'n').runs(150, 0, 'm');
  machine.breaks(1).runs(170, 1, '-', waiting);
  machine.runs(190, 0, 'l', waiting).gets(210, 'h', 1).runs(212, 1, 'h').runs(230, 1, '-', waiting);
  machine.runs(240, 0, '-', waiting);
  CHECK(machine.answer().inversions().empty());
}

TEST_CASE("a wait whose end nobody saw proves nothing") {
  Machine machine;
  machine.levels();
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(120, 'l', 1);
  machine.runs(125, 1, 'h').wants(130, 'h', 1).runs(130, 1, '-', waiting);
  machine.runs(140, 1, 'n').runs(150, 0, 'm').runs(190, 0, 'l', waiting);
  machine.runs(200, 1, 'h', waiting).runs(230, 1, '-', waiting).runs(240, 0, '-', waiting);
  CHECK(machine.answer().inversions().empty());
}

TEST_CASE("nobody owns what is not a mutant, or what another one may have") {
  SECTION("no mutant") {
    Machine machine;
    machine.levels();
    machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l');
    machine.wants(120, 'l', 1, ObjectKind::semaphore).gets(121, 'l', 1);
    machine.runs(125, 1, 'h').wants(130, 'h', 1, ObjectKind::semaphore);
    machine.runs(130, 1, 'n', waiting).runs(150, 0, 'm').runs(190, 0, 'l', waiting);
    machine.runs(200, 1, '-', waiting).runs(240, 0, '-', waiting);
    CHECK(machine.answer().inversions().empty());
  }
  SECTION("x wanted it too, and ran on") {
    Machine machine;
    machine.levels();
    machine.has('x', 8).runs(90, 0, 'x').wants(95, 'x', 1);
    play(machine);
    CHECK(machine.answer().inversions().empty());
  }
}

TEST_CASE("a thread that is ready to the end, and who waits for it, are told") {
  Machine machine;
  machine.levels();
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(120, 'l', 1);
  machine.runs(125, 1, 'h').wants(130, 'h', 1).runs(130, 1, 'n', waiting).runs(150, 0, 'm');
  machine.has('o', 8)
      .has('p', 8)
      .runs(170, 0, 'o')
      .runs(180, 1, 'p')
      .runs(190, 0, 'm')
      .runs(200, 1, 'n');
  const auto& answer = machine.answer();
  REQUIRE(answer.inversions().size() == 1);
  const auto& one = answer.inversions()[0];
  CHECK_FALSE(one.waits_until);
  // Of both processors turns that are over are known until 190.
  CHECK(one.time == 40);
}

TEST_CASE("a thread is ready while a lower one runs where it may run itself") {
  const auto play_lower = [](Machine& machine, std::optional<u64> affinity) {
    machine.has('t', 10).has('m', 8).has('n', 12).has('o', 8);
    if (affinity) machine.may_use('t', *affinity);
    machine.runs(90, 0, 't').runs(100, 0, 'm', waiting).runs(100, 1, 'n');
    machine.readied(110, 't').runs(115, 1, 'o', waiting);
    machine.runs(120, 0, 't').runs(150, 0, '-', waiting).runs(150, 1, '-', waiting);
    return machine.answer().lower_ran();
  };
  SECTION("on one that it may use") {
    Machine machine;
    const auto lower = play_lower(machine, 1);
    const auto& one = lower.at(machine.index('t'));
    CHECK((one.count == 1 && one.time == 10 && one.longest_from == 110));
    CHECK((one.other == machine.index('m') && one.cpu == 0 && one.priority == 10));
  }
  SECTION("on all of them, where nobody knows which it may use") {
    Machine machine;
    const auto lower = play_lower(machine, std::nullopt);
    CHECK(lower.at(machine.index('t')).time == 5);
  }
  SECTION("not on one that it may not use") {
    Machine machine;
    const auto lower = play_lower(machine, 2);
    CHECK(lower.at(machine.index('t')).time == 5);
  }
}

TEST_CASE("inversions beyond those that are kept are counted: inversion-limit") {
  Machine machine;
  machine.levels();
  const u64 rounds = Inversions::most_inversions + 3;
  machine.runs(10, 0, '-').runs(10, 1, '-');
  for (u64 i = 0; i < rounds; ++i) {
    const auto since = static_cast<i64>(100 + 1000 * i);
    machine.runs(since, 0, 'l', waiting).takes(since + 5, 'l', 1);
    machine.runs(since + 10, 1, 'h', waiting).wants(since + 20, 'h', 1);
    machine.runs(since + 20, 1, 'n', waiting)
        .runs(since + 30, 0, 'm')
        .runs(since + 90, 0, 'l', waiting);
    machine.gets(since + 95, 'h', 1).readied(since + 95, 'h');
    machine.runs(since + 100, 1, 'h', waiting).runs(since + 120, 1, '-', waiting);
    machine.runs(since + 130, 0, '-', waiting);
  }
  CHECK(machine.answer().inversions().size() == Inversions::most_inversions);
  CHECK(machine.answer().left_out() == 3);
}

TEST_CASE("a trace that lacks any one of its records has no other inversion, and none longer") {
  const auto* const name =
      GENERATE("priority-inversion", "inversion-chain", "lock-convoy", "producer-consumer");
  const u64 seed = GENERATE(1U, 2U, 3U);
  CAPTURE(name, seed);
  const RecordedRun run{name, seed, 5};
  // Objects are numbered as they come, and one may come later.
  const auto key = [](const Inversions& answer, const Inversion& one) {
    return std::tuple{one.high, one.low, answer.objects().all()[one.object].waited.address,
                      one.waits_since.time};
  };
  std::map<std::tuple<Index, Index, u64, i64>, Inversion> all;
  const auto whole = run.replay<Inversions>(run.size());
  for (const auto& one : whole->inversions()) all.emplace(key(*whole, one), one);
  CHECK(all.empty() == (std::string_view{name}.find("inversion") == std::string_view::npos));
  std::size_t kept = 0;
  for (std::size_t without = 0; without < run.size(); ++without) {
    CAPTURE(without);
    const auto answer = run.replay<Inversions>(without);
    for (const auto& one : answer->inversions()) {
      const auto place = all.find(key(*answer, one));
      REQUIRE(place != all.end());
      REQUIRE(one.time <= place->second.time);
      REQUIRE((one.from >= place->second.from && one.to <= place->second.to));
      ++kept;
    }
    for (Index i = 0; i < answer->lower_ran().size(); ++i) {
      const auto& lower = answer->lower_ran()[i];
      if (lower.count > 0) REQUIRE(lower.time <= whole->lower_ran().at(i).time);
    }
  }
  // Most records do not matter to it.
  CHECK(kept >= all.size() * run.size() * 3 / 4);
}

TEST_CASE("an owner that waits itself is followed to the one that could run") {
  Machine machine;
  machine.levels();
  machine.has('o', 10);
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(115, 'l', 2);
  machine.runs(117, 1, 'o').takes(118, 'o', 1);
  const bool high_first = GENERATE(true, false);
  if (high_first) {
    machine.runs(120, 0, 'h').wants(122, 'h', 1).runs(123, 0, 'l', waiting);
    machine.wants(125, 'o', 2).runs(126, 1, 'n', waiting);
  } else {
    machine.wants(120, 'o', 2).runs(121, 1, 'h', waiting);
    machine.wants(125, 'h', 1).runs(126, 1, 'n', waiting);
  }
  machine.runs(150, 0, 'm').runs(190, 0, 'l', waiting);
  // o gets what it waited for, and is pushed off by n: it is the one that h waits for now.
  machine.gets(200, 'o', 2).readied(200, 'o').runs(201, 0, 'o', waiting).runs(210, 0, 'm');
  SECTION("and told with each that h waits for") {
    machine.runs(230, 0, 'o', waiting).gets(240, 'h', 1).readied(240, 'h');
    machine.runs(241, 0, 'h').runs(250, 0, '-', waiting).runs(260, 1, '-', waiting);
    const auto& all = machine.answer().inversions();
    REQUIRE(all.size() == 2);
    const auto& of_high = *std::ranges::find(all, machine.index('h'), &Inversion::high);
    CHECK(of_high.low == machine.index('l'));
    CHECK((of_high.from == 150 && of_high.to == 190 && of_high.time == 40));
    CHECK(of_high.waits_until == 240);
    CHECK(of_high.owned_since.time == 115);
    REQUIRE(of_high.between.size() == 1);
    CHECK(of_high.between[0].thread == machine.index('o'));
    CHECK(of_high.between[0].owned_since.time == 118);
    CHECK(of_high.between[0].waits_since.time == (high_first ? 125 : 120));
    const auto& of_owner = *std::ranges::find(all, machine.index('o'), &Inversion::high);
    CHECK((of_owner.low == machine.index('l') && of_owner.time == 40 && of_owner.between.empty()));
  }
  SECTION("not where the end of its wait was not seen") {
    machine.runs(230, 1, '-', waiting).runs(231, 1, 'h').runs(240, 1, '-', waiting);
    machine.runs(250, 0, '-', waiting);
    for (const auto& one : machine.answer().inversions()) CHECK(one.high != machine.index('h'));
  }
}

TEST_CASE("who waits in a circle waits for nobody who could run") {
  Machine machine;
  machine.levels();
  machine.has('o', 10);
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(115, 'l', 2);
  machine.runs(117, 1, 'o').takes(118, 'o', 1).wants(120, 'o', 2).runs(121, 1, 'h', waiting);
  machine.wants(125, 'h', 1).runs(126, 1, 'n', waiting);
  machine.wants(130, 'l', 1).runs(131, 0, 'm', waiting);
  machine.runs(190, 0, '-', waiting).runs(200, 1, '-', waiting);
  CHECK(machine.answer().inversions().empty());
}

TEST_CASE("who takes the mutant next is its owner for those that still wait") {
  Machine machine;
  machine.levels();
  machine.has('o', 7);
  machine.runs(100, 0, '-').runs(100, 1, '-').runs(110, 0, 'l').takes(120, 'l', 1);
  machine.runs(122, 1, 'o').wants(123, 'o', 1).runs(124, 1, 'h', waiting);
  machine.wants(130, 'h', 1).runs(131, 1, '-', waiting);
  machine.gets(140, 'o', 1).readied(140, 'o').runs(141, 1, 'o');
  machine.runs(142, 0, 'm', waiting).runs(150, 1, 'n').runs(190, 1, 'o', waiting);
  machine.gets(200, 'h', 1).readied(200, 'h').runs(201, 0, 'h', waiting);
  machine.runs(210, 0, '-', waiting).runs(220, 1, '-', waiting);
  const auto& all = machine.answer().inversions();
  REQUIRE(all.size() == 1);
  CHECK(all[0].high == machine.index('h'));
  CHECK(all[0].low == machine.index('o'));
  CHECK((all[0].owned_since.time == 140 && all[0].from == 150 && all[0].time == 40));
}
