#include "tracefile/synthesis/wait_graph.hpp"

#include <catch2/catch.hpp>

namespace coldtrace::tracefile::synthesis {
namespace {

// Threads of which each has a mutant, and that wait for those of others.
struct Fixture {
  explicit Fixture(std::size_t count) {
    for (u32 i = 0; i < count; ++i) {
      auto& thread = threads.emplace_back(process, 10 + i, 0x1000 * (i + 1));
      thread.number = i;
      mutants.emplace_back(ObjectType::mutant, 0x100 * (i + 1), 1).take(thread);
    }
  }

  void wait(std::size_t waiter, WaitType type, const std::vector<std::size_t>& owners) {
    auto& thread = threads[waiter];
    thread.state = ThreadState::waiting;
    thread.wait.type = type;
    for (const auto owner : owners) thread.wait.objects.push_back(&mutants[owner]);
  }

  // Members and victims of each knot.
  std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> knots() const {
    const auto numbers = [](const auto& found) {
      std::vector<std::size_t> made;
      for (const auto* thread : found) made.push_back(thread->number);
      return made;
    };
    std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> made;
    for (const auto& knot : find_knots(threads))
      made.emplace_back(numbers(knot.members), numbers(knot.victims));
    return made;
  }

  Process process{4, 0, "System", "", {ObjectType::process, 0x10, 0}};
  std::deque<Thread> threads;
  std::deque<DispatcherObject> mutants;
};

using Numbers = std::vector<std::size_t>;
using Knots = std::vector<std::pair<Numbers, Numbers>>;

TEST_CASE("A chain of waits is not a deadlock") {
  Fixture fixture{3};
  fixture.wait(0, WaitType::any, {1});
  fixture.wait(1, WaitType::any, {2});
  CHECK(fixture.knots().empty());
}

TEST_CASE("Who waits for a deadlock is its victim, through others too") {
  Fixture fixture{5};
  fixture.wait(0, WaitType::any, {1});
  fixture.wait(1, WaitType::any, {2});
  fixture.wait(2, WaitType::any, {3});
  fixture.wait(3, WaitType::any, {2});
  CHECK(fixture.knots() == Knots{{{2, 3}, {0, 1}}});
}

TEST_CASE("Two deadlocks are two") {
  Fixture fixture{5};
  fixture.wait(0, WaitType::any, {1});
  fixture.wait(1, WaitType::any, {0});
  fixture.wait(2, WaitType::any, {3});
  fixture.wait(3, WaitType::any, {4});
  fixture.wait(4, WaitType::any, {2});
  CHECK(fixture.knots() == Knots{{{0, 1}, {}}, {{2, 3, 4}, {}}});
}

TEST_CASE("A wait for any is stuck when all its objects are, one for all when one is") {
  for (const auto type : {WaitType::any, WaitType::all}) {
    Fixture fixture{3};
    fixture.wait(0, type, {1, 2});
    fixture.wait(1, WaitType::any, {0});
    CHECK(fixture.knots() == (type == WaitType::all ? Knots{{{0, 1}, {}}} : Knots{}));
    fixture.wait(2, WaitType::any, {0});
    CHECK(fixture.knots() == Knots{{{0, 1, 2}, {}}});
  }
}

TEST_CASE("What anybody could signal stops nobody for ever") {
  Fixture fixture{2};
  DispatcherObject event{ObjectType::notification_event, 0x5000, 0};
  fixture.wait(0, WaitType::any, {1});
  fixture.wait(1, WaitType::any, {0});
  fixture.threads[1].wait.objects.push_back(&event);
  CHECK(fixture.knots().empty());
}

}  // namespace
}  // namespace coldtrace::tracefile::synthesis
