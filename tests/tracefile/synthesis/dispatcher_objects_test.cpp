#include "tracefile/synthesis/dispatcher_objects.hpp"

#include <catch2/catch.hpp>

#include "tracefile/synthesis/thread.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

struct Threads {
  Process process{4, 0, "System", "", {ObjectType::process, 0x1000, 0}};
  Thread one{process, 8, 0x2000};
  Thread other{process, 12, 0x3000};
};

Wait wait_for(WaitType type, std::vector<DispatcherObject*> objects) {
  return {std::move(objects), type, wait_reason::user_request, {}, 0};
}

TEST_CASE("A mutant is free after as many releases as waits") {
  Threads threads;
  DispatcherObject mutant{ObjectType::mutant, 0x4000, 1};
  CHECK(mutant.is_signaled_for(threads.other));
  for (int i = 0; i < 3; ++i) {
    REQUIRE(mutant.is_signaled_for(threads.one));
    CHECK_FALSE(mutant.take(threads.one));
    CHECK(mutant.owner() == &threads.one);
    CHECK_FALSE(mutant.is_signaled_for(threads.other));
  }
  CHECK_FALSE(mutant.release(threads.other));
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(mutant.is_signaled_for(threads.other));
    CHECK(mutant.release(threads.one));
  }
  CHECK(mutant.owner() == nullptr);
  CHECK(mutant.is_signaled_for(threads.other));
  CHECK_FALSE(mutant.release(threads.one));
}

TEST_CASE("Who takes a mutant whose owner ended is told so, once") {
  Threads threads;
  DispatcherObject mutant{ObjectType::mutant, 0x4000, 1};
  mutant.take(threads.one);
  mutant.take(threads.one);
  mutant.abandon();
  CHECK(mutant.take(threads.other));
  CHECK(mutant.release(threads.other));
  CHECK_FALSE(mutant.take(threads.one));
}

TEST_CASE("A semaphore counts, up to its limit") {
  Threads threads;
  DispatcherObject semaphore{ObjectType::semaphore, 0x4000, 1, 3};
  semaphore.take(threads.one);
  CHECK_FALSE(semaphore.is_signaled_for(threads.one));
  CHECK_FALSE(semaphore.release(threads.other, 4));
  CHECK(semaphore.release(threads.other, 3));
  for (int i = 0; i < 3; ++i) semaphore.take(threads.one);
  CHECK_FALSE(semaphore.is_signaled_for(threads.one));
}

TEST_CASE("A synchronization event lets one wait end, a notification event all") {
  Threads threads;
  DispatcherObject synchronization{ObjectType::synchronization_event, 0x4000, 0};
  DispatcherObject notification{ObjectType::notification_event, 0x5000, 0};
  for (auto* event : {&synchronization, &notification}) {
    CHECK_FALSE(event->is_signaled_for(threads.one));
    event->set();
    CHECK(event->is_signaled_for(threads.one));
    event->take(threads.one);
  }
  CHECK_FALSE(synchronization.is_signaled_for(threads.other));
  CHECK(notification.is_signaled_for(threads.other));
  notification.reset();
  CHECK_FALSE(notification.is_signaled_for(threads.other));
}

TEST_CASE("A wait for any ends with the first signaled object's index, and takes that one") {
  Threads threads;
  DispatcherObject mutant{ObjectType::mutant, 0x4000, 1};
  DispatcherObject semaphore{ObjectType::semaphore, 0x5000, 1};
  mutant.take(threads.other);
  const auto wait = wait_for(WaitType::any, {&mutant, &semaphore, &semaphore});
  CHECK(find_satisfied(wait, threads.one) == 1U);
  CHECK(take_objects(wait, 1, threads.one) == 1);
  CHECK_FALSE(find_satisfied(wait, threads.one));
  mutant.abandon();
  REQUIRE(find_satisfied(wait, threads.one) == 0U);
  CHECK(take_objects(wait, 0, threads.one) == 0x80);
}

TEST_CASE("A wait for all takes nothing before everything is signaled") {
  Threads threads;
  DispatcherObject mutant{ObjectType::mutant, 0x4000, 1};
  DispatcherObject semaphore{ObjectType::semaphore, 0x5000, 0};
  const auto wait = wait_for(WaitType::all, {&mutant, &semaphore});
  CHECK_FALSE(find_satisfied(wait, threads.one));
  CHECK(mutant.is_signaled_for(threads.other));
  semaphore.release(threads.other);
  REQUIRE(find_satisfied(wait, threads.one));
  CHECK(take_objects(wait, 0, threads.one) == 0);
  CHECK(mutant.owner() == &threads.one);
  CHECK_FALSE(semaphore.is_signaled_for(threads.one));
}

}  // namespace
}  // namespace coldtrace::tracefile::synthesis
