#include "coldtrace/trace_analysis/waits/deadlocks.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "tests/tracefile/analysis/recorded_run.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

using Names = std::vector<char>;

// Threads a, b, c, ... and mutants with numbers, on one processor each; every step takes a tick.
class Machine {
 public:
  explicit Machine(int threads = 6) {
    for (int i = 0; i < threads; ++i) population_.start_thread(static_cast<u32>(8 + 4 * i), 0, {});
    answer_.begin(observed_);
  }

  Machine& begins(char thread, std::vector<u64> mutants, WaitNeeds needs = WaitNeeds::any) {
    std::vector<WaitedObject> objects;
    for (const auto mutant : mutants) objects.push_back({mutant, ObjectKind::mutant});
    answer_.on_wait_begin({next(), index(thread), objects, needs, 6, std::nullopt});
    return *this;
  }
  Machine& begins_for(char thread, char other) {
    const auto object = population_.threads()[index(other)].object;
    const WaitedObject waited{object, ObjectKind::thread};
    answer_.on_wait_begin({next(), index(thread), {&waited, 1}, WaitNeeds::any, 6, std::nullopt});
    return *this;
  }
  Machine& leaves(char thread) {
    return switches(index(thread), population_.idle_thread(0), ThreadState::waiting);
  }
  Machine& comes(char thread) {
    return switches(population_.idle_thread(0), index(thread), ThreadState::running);
  }
  Machine& waits(char thread, std::vector<u64> mutants, WaitNeeds needs = WaitNeeds::any) {
    return begins(thread, std::move(mutants), needs).leaves(thread);
  }
  Machine& ends(char thread, u32 status = 0) {
    answer_.on_wait_end({next(), index(thread), std::nullopt, status, index(thread)});
    return *this;
  }
  Machine& takes(char thread, u64 mutant) { return begins(thread, {mutant}).ends(thread); }
  Machine& exits(char thread) {
    const auto moment = next();
    population_.at_thread(index(thread)).life.end = moment.time;
    answer_.on_thread({moment, Life::ends, index(thread)});
    return *this;
  }
  Machine& has_object(char thread, u64 address) {
    population_.at_thread(index(thread)).object = address;
    answer_.on_thread({next(), Life::begins, index(thread)});
    return *this;
  }

  const Deadlocks& answer() {
    observed_.last = time_;
    answer_.finish(observed_);
    return answer_;
  }
  static Names names(const Deadlocks::Deadlock& deadlock) {
    Names names;
    for (const auto& member : deadlock.members)
      names.push_back(static_cast<char>('a' + member.place.thread));
    return names;
  }
  static Names victims(const Deadlocks::Deadlock& deadlock) {
    Names names;
    for (const auto& victim : deadlock.victims)
      names.push_back(static_cast<char>('a' + victim.place.thread));
    return names;
  }

 private:
  static Index index(char thread) { return static_cast<Index>(thread - 'a'); }
  Moment next() { return {++time_, u16{0}, {0, static_cast<u32>(time_)}}; }
  Machine& switches(Index from, Index to, ThreadState state) {
    answer_.on_switch({next(), from, to, true, state, 6, 8, 8});
    return *this;
  }

  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, 0, std::nullopt};
  Deadlocks answer_;
  i64 time_ = 0;
};

}  // namespace

TEST_CASE("two threads that wait for each other's mutant are a cycle") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).waits('a', {2}).waits('b', {1});
  const auto& answer = machine.answer();
  REQUIRE(answer.deadlocks().size() == 1);
  const auto& deadlock = answer.deadlocks()[0];
  CHECK(deadlock.cycle);
  CHECK(deadlock.proved());
  CHECK_FALSE(deadlock.end);
  CHECK(Machine::names(deadlock) == Names{'b', 'a'});
  CHECK(deadlock.closed.time == 7);
}

TEST_CASE("nobody is in a cycle with himself: mutants are recursive") {
  Machine machine;
  machine.takes('a', 1).waits('a', {1});
  CHECK(machine.answer().deadlocks().empty());
}

TEST_CASE("an owner that runs, or that ended, closes nothing") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2);
  SECTION("it runs") {
    machine.waits('a', {2});
  }
  SECTION("it ended") {
    machine.waits('a', {2}).exits('b');
  }
  SECTION("it ended before") {
    machine.exits('b').waits('a', {2});
  }
  SECTION("it ran again after its wait") {
    machine.waits('b', {1}).comes('b').waits('a', {2});
  }
  CHECK(machine.answer().deadlocks().empty());
}

TEST_CASE("a mutant whose last taker is not seen has no owner") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).waits('c', {1}).comes('c').begins('c', {3}).ends('c');
  // The thread c may have taken 1 now: what a has taken before proves nothing.
  machine.waits('a', {2}).waits('b', {1});
  CHECK(machine.answer().deadlocks().empty());
}

TEST_CASE("a wait that was over at once closed nothing") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).waits('a', {2}).begins('b', {1}).ends('b').begins('b', {3});
  const auto& answer = machine.answer();
  CHECK(answer.deadlocks().empty());
  CHECK(answer.passing() == 1);
}

TEST_CASE("who waits into a cycle is its victim") {
  Machine machine;
  machine.has_object('a', 0x100).takes('a', 1).takes('b', 2).takes('c', 3).takes('d', 4);
  machine.waits('c', {2}).begins_for('d', 'a').leaves('d').waits('e', {3}).waits('f', {5});
  machine.waits('a', {2}).waits('b', {1});
  const auto& answer = machine.answer();
  REQUIRE(answer.deadlocks().size() == 1);
  CHECK(Machine::names(answer.deadlocks()[0]) == Names{'b', 'a'});
  auto victims = Machine::victims(answer.deadlocks()[0]);
  std::sort(victims.begin(), victims.end());
  CHECK(victims == Names{'c', 'd', 'e'});
}

TEST_CASE("a thread that waits for the end of one that waits for it is in a cycle") {
  Machine machine;
  machine.has_object('a', 0x100).has_object('b', 0x200);
  machine.begins_for('a', 'b').leaves('a').begins_for('b', 'a').leaves('b');
  CHECK(machine.answer().deadlocks().size() == 1);
}

TEST_CASE("a wait for any is in a deadlock only when all ways lead back") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).takes('c', 3).waits('a', {2, 3}).waits('b', {1});
  SECTION("one leads out") {
    CHECK(machine.answer().deadlocks().empty());
  }
  SECTION("both lead back") {
    machine.waits('c', {1});
    const auto& answer = machine.answer();
    REQUIRE(answer.deadlocks().size() == 1);
    CHECK_FALSE(answer.deadlocks()[0].cycle);
    CHECK(Machine::names(answer.deadlocks()[0]) == Names{'c', 'a', 'b'});
  }
  SECTION("the other one leads into a cycle of others") {
    machine.takes('d', 4).waits('c', {4}).waits('d', {3});
    const auto& answer = machine.answer();
    REQUIRE(answer.deadlocks().size() == 1);
    CHECK(Machine::names(answer.deadlocks()[0]) == Names{'d', 'c'});
  }
}

TEST_CASE("a wait for all is in a deadlock when one way leads back") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).takes('c', 3);
  machine.waits('a', {2, 3}, WaitNeeds::all).waits('b', {1});
  const auto& answer = machine.answer();
  REQUIRE(answer.deadlocks().size() == 1);
  CHECK(answer.deadlocks()[0].cycle);
  CHECK(Machine::names(answer.deadlocks()[0]) == Names{'b', 'a'});
}

TEST_CASE("objects that have events of their own are one wait, until the thread leaves") {
  constexpr auto unknown = WaitNeeds::not_known;
  Machine machine;
  machine.takes('a', 1).takes('b', 2).takes('c', 3).waits('b', {1}, unknown);
  SECTION("the second one may end it") {
    machine.begins('a', {2}, unknown).begins('a', {3}, unknown).leaves('a');
    CHECK(machine.answer().deadlocks().empty());
  }
  SECTION("alone the first one cannot") {
    machine.begins('a', {2}, unknown).leaves('a');
    CHECK(machine.answer().deadlocks().size() == 1);
  }
}

TEST_CASE("a deadlock ends with the first of its waits") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).waits('a', {2}).waits('b', {1});
  SECTION("by a timeout") {
    machine.comes('a').ends('a', 0x102);
    const auto& answer = machine.answer();
    REQUIRE(answer.deadlocks().size() == 1);
    REQUIRE(answer.deadlocks()[0].end);
    CHECK(answer.deadlocks()[0].end->status == 0x102);
    CHECK(answer.deadlocks()[0].end->thread == 0);
  }
  SECTION("by the end of a thread") {
    machine.exits('b');
    const auto& answer = machine.answer();
    REQUIRE(answer.deadlocks().size() == 1);
    CHECK(answer.deadlocks()[0].end->thread == 1);
    CHECK_FALSE(answer.deadlocks()[0].end->status);
  }
  SECTION("which is not seen") {
    machine.comes('a');
    CHECK(machine.answer().deadlocks()[0].end);
  }
  SECTION("not by a thread that runs for a moment, and waits on") {
    machine.comes('a').leaves('a');
    CHECK_FALSE(machine.answer().deadlocks()[0].end);
  }
}

TEST_CASE("without switches nothing proves a deadlock") {
  Machine machine;
  machine.takes('a', 1).takes('b', 2).begins('a', {2}).begins('b', {1});
  const auto& answer = machine.answer();
  REQUIRE(answer.deadlocks().size() == 1);
  CHECK_FALSE(answer.deadlocks()[0].proved());
}

TEST_CASE("opposite orders of mutants are told when they did not lead to a deadlock") {
  Machine machine;
  SECTION("two threads") {
    machine.takes('a', 1).takes('a', 2).takes('b', 2).takes('b', 1);
    const auto& answer = machine.answer();
    REQUIRE(answer.inversions().size() == 1);
    const auto& witnesses = answer.inversions()[0].witnesses;
    REQUIRE(witnesses.size() == 2);
    CHECK(witnesses[0].thread == 0);
    CHECK(witnesses[0].held_since.time == 2);
    CHECK(witnesses[0].taken_at.time == 4);
    CHECK(witnesses[1].thread == 1);
    CHECK_FALSE(answer.is_deadlocked(answer.inversions()[0]));
  }
  SECTION("one thread cannot wait for itself") {
    machine.takes('a', 1).takes('a', 2).takes('b', 1).takes('b', 3).takes('c', 2).takes('a', 2);
    machine.takes('a', 1);
    CHECK(machine.answer().inversions().empty());
  }
  SECTION("another mutant that both take first keeps them apart") {
    machine.takes('a', 9).takes('a', 1).takes('a', 2).takes('b', 9).takes('b', 2).takes('b', 1);
    CHECK(machine.answer().inversions().empty());
  }
  SECTION("three threads in a circle") {
    machine.takes('a', 1).takes('a', 2).takes('b', 2).takes('b', 3).takes('c', 3).takes('c', 1);
    const auto& answer = machine.answer();
    REQUIRE(answer.inversions().size() == 1);
    CHECK(answer.inversions()[0].witnesses.size() == 3);
  }
  SECTION("to take it again puts it in no order") {
    machine.takes('a', 1).takes('a', 2).takes('a', 1).takes('b', 1).takes('b', 2);
    CHECK(machine.answer().inversions().empty());
  }
}

namespace {

using Found = std::set<std::set<Index>>;

Found find_deadlocks(const fixtures::RecordedRun& run, std::size_t without) {
  const auto answer = run.replay<Deadlocks>(without);
  Found found;
  for (const auto& deadlock : answer->deadlocks()) {
    if (!deadlock.proved()) continue;
    std::set<Index> threads;
    for (const auto& member : deadlock.members) threads.insert(member.place.thread);
    found.insert(threads);
  }
  return found;
}

}  // namespace

TEST_CASE("a trace that lacks any one of its records has no other deadlock") {
  const auto* const name = GENERATE("deadlock-2", "deadlock-5", "any-wait", "lock-convoy");
  const u64 seed = GENERATE(1U, 2U, 3U);
  CAPTURE(name, seed);
  const fixtures::RecordedRun run{name, seed, 0};
  REQUIRE(run.size() > 60);
  const auto all = find_deadlocks(run, run.size());
  CHECK(all.size() == (std::string_view{name} == "lock-convoy" ? 0 : 1));
  std::size_t lost = 0;
  for (std::size_t without = 0; without < run.size(); ++without) {
    const auto found = find_deadlocks(run, without);
    if (found.empty()) ++lost;
    CAPTURE(without);
    CHECK(std::includes(all.begin(), all.end(), found.begin(), found.end()));
  }
  // Most records do not matter to it.
  if (!all.empty()) CHECK(lost < run.size() / 4);
}
