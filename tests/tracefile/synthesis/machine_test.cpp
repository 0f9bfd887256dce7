#include "tracefile/synthesis/machine.hpp"

#include <catch2/catch.hpp>

#include "tracefile/synthesis/actor.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

using namespace std::chrono_literals;

// What a thread is called by its id.
constexpr u32 low = 10;
constexpr u32 high = 20;
constexpr u32 other = 30;

class Recorder final : public MachineLog {
 public:
  struct Switch {
    u64 time;
    u16 processor;
    u32 old_thread;
    u32 new_thread;
    u8 reason;
    int old_priority;
    int new_priority;
  };
  struct Told {
    RoutineKind kind;
    u64 begun;
    u64 ended;
    u64 interrupted;
  };

  void switched(const Moment& at, const ContextSwitch& change) override {
    switches.push_back({at.time, at.processor, at.thread.id, change.next.id, change.wait_reason,
                        at.thread.priority, change.next.priority});
  }
  void routine_ended(const Moment& at, const Routine& routine) override {
    routines.push_back({routine.kind, routine.begun, at.time, routine.interrupted});
  }
  void readied(const Moment& at, const Readied& readied) override {
    readied_at.push_back(at.time);
    in_deferred_call.push_back(readied.in_deferred_call);
  }

  // The switches to a thread.
  std::vector<Switch> to(u32 thread) const {
    std::vector<Switch> found;
    for (const auto& one : switches)
      if (one.new_thread == thread) found.push_back(one);
    return found;
  }
  std::vector<Switch> from(u32 thread) const {
    std::vector<Switch> found;
    for (const auto& one : switches)
      if (one.old_thread == thread) found.push_back(one);
    return found;
  }

  std::vector<Switch> switches;
  std::vector<Told> routines;
  std::vector<u64> readied_at;
  std::vector<bool> in_deferred_call;
};

// A machine on which code takes no time but what it computes.
struct Fixture {
  explicit Fixture(u16 processors = 1)
      : machine{{.processors = processors, .code_time = Duration{0}}, {&recorder}},
        process{machine.add_process({"test.exe", "test.exe", 4})} {}

  Thread& add(u32 id, i8 priority, const Actor::Body& body, u64 affinity = ~u64{}) {
    return add_thread(machine, process, body,
                      {.priority = priority, .affinity = affinity, .id = id});
  }

  Recorder recorder;
  Machine machine;
  Process& process;
};

Program compute(Actor self, Duration duration) {
  co_await self.compute(duration);
}

Program sleep_and_compute(Actor self, Duration sleep, Duration duration) {
  co_await self.sleep(sleep);
  co_await self.compute(duration);
}

Program wait_and_note(Actor self, DispatcherObject& object, std::vector<u32>& order) {
  co_await self.wait(object);
  order.push_back(self.thread().id);
  co_await self.compute(100us);
  self.release(object);
}

TEST_CASE("A quantum ends after six clock interrupts, and threads of one priority take turns") {
  Fixture fixture;
  for (const u32 id : {low, other})
    fixture.add(id, 8, [](Actor self) { return compute(self, 10ms); });
  fixture.machine.run();
  const auto left = fixture.recorder.from(low);
  REQUIRE(left.size() == 2);
  CHECK(left[0].reason == wait_reason::quantum_end);
  CHECK(left[0].time == ticks_of(6ms + 2us));  // the interrupt takes 2 µs
  CHECK(left[0].new_thread == other);
  CHECK(fixture.recorder.to(low).back().time == ticks_of(12ms + 2us));
}

TEST_CASE("Nobody of lower priority runs while one of higher priority can") {
  Fixture fixture;
  fixture.add(low, 8, [](Actor self) { return compute(self, 5ms); });
  fixture.add(high, 9, [](Actor self) { return sleep_and_compute(self, 2ms, 10ms); });
  fixture.machine.run();
  const auto left = fixture.recorder.from(low);
  REQUIRE(left.size() == 2);
  CHECK(left[0].reason == wait_reason::preempted);
  CHECK(left[0].new_thread == high);
  // It goes on where it was, when the other one has ended.
  const auto answers = fixture.machine.finish();
  CHECK(answers.threads[0].run == ticks_of(5ms) + answers.threads[0].interrupted);
  CHECK(answers.threads[0].ready == answers.threads[1].run);
  CHECK(answers.threads[1].run == ticks_of(10ms) + answers.threads[1].interrupted);
}

TEST_CASE("Interrupts and deferred calls delay a thread by as long as they take") {
  Fixture fixture;
  fixture.add(low, 8, [](Actor self) { return compute(self, 900us); });
  std::vector<u64> called;
  // The second one comes during the deferred call of the first.
  for (const u64 time : {u64{1'000}, u64{1'100}})
    fixture.machine.plan_interrupt(time, 0x1000, 1,
                                   [&] { called.push_back(fixture.machine.now()); });
  fixture.machine.run();
  const auto& routines = fixture.recorder.routines;
  REQUIRE(routines.size() == 4);
  CHECK(routines[0].kind == RoutineKind::interrupt);
  CHECK(std::pair{routines[0].begun, routines[0].ended} == std::pair{u64{1'000}, u64{1'050}});
  CHECK(routines[1].kind == RoutineKind::interrupt);
  CHECK(std::pair{routines[1].begun, routines[1].ended} == std::pair{u64{1'100}, u64{1'150}});
  CHECK(routines[2].kind == RoutineKind::deferred);
  CHECK(std::pair{routines[2].begun, routines[2].ended} == std::pair{u64{1'050}, u64{1'200}});
  CHECK(routines[2].interrupted == 50);
  CHECK(std::pair{routines[3].begun, routines[3].ended} == std::pair{u64{1'200}, u64{1'300}});
  CHECK(called == std::vector<u64>{1'200, 1'300});
  CHECK(fixture.recorder.from(low)[0].time == ticks_of(900us) + 300);
  const auto sums = fixture.machine.finish().routines;
  REQUIRE(sums.size() == 2);
  CHECK(std::pair{sums[0].inclusive, sums[0].exclusive} == std::pair{u64{100}, u64{100}});
  CHECK(std::pair{sums[1].inclusive, sums[1].exclusive} == std::pair{u64{250}, u64{200}});
}

Program run_after_wait(Actor self, DispatcherObject& event) {
  co_await self.wait(event);
  co_await self.compute(20ms);
}

Program set_after(Actor self, DispatcherObject& event, Duration duration) {
  co_await self.sleep(duration);
  self.set(event);
}

TEST_CASE("A wait that ends raises the priority, and each quantum takes one of it back") {
  const int base = GENERATE(8, 15, 16, 31);
  CAPTURE(base);
  Fixture fixture{2};
  auto& event = fixture.machine.add_object(ObjectType::synchronization_event, 0);
  auto& thread = fixture.add(low, static_cast<i8>(base),
                             [&](Actor self) { return run_after_wait(self, event); });
  fixture.add(other, 8, [&](Actor self) { return set_after(self, event, 1ms); });
  fixture.machine.run();
  const auto arrived = fixture.recorder.to(low);
  REQUIRE(arrived.size() == 2);
  CHECK(arrived[1].new_priority == (base == 8 ? 9 : base));
  CHECK(thread.priority == base);
}

TEST_CASE("A boosted thread lets others of its own priority run when the boost is used up") {
  Fixture fixture;
  auto& event = fixture.machine.add_object(ObjectType::synchronization_event, 0);
  fixture.add(low, 8, [&](Actor self) { return run_after_wait(self, event); });
  fixture.add(other, 8, [](Actor self) { return compute(self, 50ms); });
  fixture.machine.plan_interrupt(ticks_of(1ms + 500us), 0x1000, 1,
                                 [&] { fixture.machine.set(event, 2); });
  fixture.machine.run();
  const auto left = fixture.recorder.from(low);
  const auto arrived = fixture.recorder.to(low);
  REQUIRE(left.size() > 2);
  CHECK(arrived[1].new_priority == 10);
  CHECK(fixture.recorder.in_deferred_call == std::vector<bool>{true});
  // Two quanta above the other one's priority: 12 clock interrupts.
  CHECK(left[1].reason == wait_reason::quantum_end);
  CHECK(left[1].old_priority == 8);
  CHECK(left[1].time - arrived[1].time > ticks_of(11ms));
  CHECK(left[1].time - arrived[1].time < ticks_of(12ms));
}

TEST_CASE("A mutant is handed over in the order of the waits, whatever the priorities") {
  Fixture fixture;
  auto& mutant = fixture.machine.add_mutant();
  std::vector<u32> order;
  const auto body = [&](Actor self) { return wait_and_note(self, mutant, order); };
  auto hold = [](Actor self, DispatcherObject& held) -> Program {
    co_await self.wait(held);
    co_await self.sleep(5ms);
    self.release(held);
  };
  fixture.add(1, 31, [&](Actor self) { return hold(self, mutant); });
  for (const u32 id : {low, other}) fixture.add(id, 15, body);
  fixture.add(high, 8, body);
  fixture.add(high + 1, 12, body);
  fixture.machine.run();
  CHECK(order == std::vector<u32>{low, other, high + 1, high});
}

struct Statuses {
  DispatcherObject& first;
  DispatcherObject& second;
  std::vector<u32> seen;
};

Program try_waits(Actor self, Statuses& statuses) {
  auto note = [&](u32 status) { statuses.seen.push_back(status); };
  note(co_await self.wait_within(statuses.first, 3ms));
  note(co_await self.wait_within(statuses.first, 0ms));
  note(co_await self.wait_any(statuses.first, statuses.second));
  note(co_await self.wait_all(statuses.first, statuses.second));
  note(co_await self.wait(statuses.first));
}

Program release_in_turn(Actor self, Statuses& statuses) {
  co_await self.sleep(10ms);
  self.release(statuses.second);
  co_await self.sleep(5ms);
  self.release(statuses.second);
  co_await self.sleep(5ms);
  self.release(statuses.first, 2);
}

TEST_CASE("Waits end with the status that tells why") {
  Fixture fixture;
  Statuses statuses{fixture.machine.add_semaphore(0), fixture.machine.add_semaphore(0), {}};
  fixture.add(low, 8, [&](Actor self) { return try_waits(self, statuses); });
  fixture.add(other, 8, [&](Actor self) { return release_in_turn(self, statuses); });
  fixture.machine.run();
  CHECK(statuses.seen == std::vector<u32>{status_timeout, status_timeout, 1, 0, 0});
  const auto answers = fixture.machine.finish();
  CHECK(answers.threads[0].ended >= ticks_of(20ms));
  CHECK_FALSE(answers.threads[0].open_wait);
}

Program wait_for_timer(Actor self, DispatcherObject& timer, std::vector<u64>& seen) {
  self.set_timer(timer, 2'500us);
  for (int i = 0; i < 2; ++i) {
    if (co_await self.wait_within(timer, 10ms) == status_timeout) co_return;
    seen.push_back(self.machine().now());
  }
}

TEST_CASE("A timer is signaled by the first clock interrupt after its time") {
  Fixture fixture;
  std::vector<u64> seen;
  const bool resets = GENERATE(true, false);
  auto& timer = fixture.machine.add_object(
      resets ? ObjectType::synchronization_timer : ObjectType::notification_timer, 0);
  fixture.add(low, 8, [&](Actor self) { return wait_for_timer(self, timer, seen); });
  fixture.machine.run();
  REQUIRE(seen.size() == (resets ? 1 : 2));
  CHECK(seen[0] == ticks_of(3ms + 5us));  // 2 µs of interrupt, 3 µs of deferred call
  CHECK(fixture.recorder.routines[1].kind == RoutineKind::timer);
}

TEST_CASE("A thread that ends with a mutant abandons it") {
  Fixture fixture;
  auto& mutant = fixture.machine.add_mutant();
  Statuses statuses{mutant, mutant, {}};
  auto keep = [](Actor self, DispatcherObject& held) -> Program {
    co_await self.wait(held);
    co_await self.wait(held);
    co_await self.sleep(2ms);
  };
  auto take = [](Actor self, Statuses& seen) -> Program {
    seen.seen.push_back(co_await self.wait(seen.first));
  };
  fixture.add(low, 9, [&](Actor self) { return keep(self, mutant); });
  fixture.add(other, 8, [&](Actor self) { return take(self, statuses); });
  fixture.machine.run();
  CHECK(statuses.seen == std::vector<u32>{0x80});
}

TEST_CASE("A thread becomes ready on the processor where it ran, if that one is idle") {
  Fixture fixture{4};
  auto& thread = add_thread(fixture.machine, fixture.process,
                            [](Actor self) { return sleep_and_compute(self, 2ms, 1ms); },
                            {.processor = 2, .id = low});
  fixture.machine.run();
  CHECK(thread.last_processor == 2);
  const auto arrived = fixture.recorder.to(low);
  REQUIRE(arrived.size() == 2);
  CHECK(arrived[1].processor == 2);
  // Another processor, which the first one's deferred call tells, hears of it a little later.
  REQUIRE(fixture.recorder.readied_at.size() == 1);
  CHECK(arrived[1].time > fixture.recorder.readied_at[0] + 10);
  CHECK(arrived[1].time < fixture.recorder.readied_at[0] + 30);
}

TEST_CASE("A thread runs only where its affinity lets it") {
  Fixture fixture{2};
  fixture.add(
      low, 8, [](Actor self) { return compute(self, 3ms); }, 2);
  fixture.add(
      other, 8, [](Actor self) { return compute(self, 3ms); }, 2);
  fixture.machine.run();
  for (const auto& one : fixture.recorder.switches) CHECK(one.processor == 1);
  const auto answers = fixture.machine.finish();
  CHECK(answers.processors[0].busy == 0);
  CHECK(answers.processors[0].idle == answers.elapsed);
  CHECK(answers.processors[1].busy >= ticks_of(6ms));
}

TEST_CASE("A thread that is pushed away goes to an idle processor at once") {
  Fixture fixture{2};
  fixture.add(
      high, 12, [](Actor self) { return sleep_and_compute(self, 2ms, 1ms); }, 2);
  fixture.add(
      other, 8, [](Actor self) { return compute(self, 1ms); }, 1);
  fixture.add(low, 8, [](Actor self) { return compute(self, 5ms); });
  fixture.machine.run();
  const auto left = fixture.recorder.from(low);
  const auto arrived = fixture.recorder.to(low);
  REQUIRE(arrived.size() == 2);
  CHECK(left[0].processor == 1);
  CHECK(arrived[1].processor == 0);
  CHECK(arrived[1].time == left[0].time);
}

Program lock_both(Actor self, DispatcherObject& first, DispatcherObject& second,
                  std::optional<Duration> patience) {
  co_await self.wait(first);
  co_await self.sleep(1ms);
  if (patience)
    co_await self.wait_within(second, *patience);
  else
    co_await self.wait(second);
}

TEST_CASE("A deadlock lasts until one of its threads gives up") {
  const bool gives_up = GENERATE(false, true);
  CAPTURE(gives_up);
  Fixture fixture{2};
  auto& first = fixture.machine.add_mutant();
  auto& second = fixture.machine.add_mutant();
  const auto patience = gives_up ? std::optional<Duration>{20ms} : std::nullopt;
  fixture.add(low, 8, [&](Actor self) { return lock_both(self, first, second, patience); });
  fixture.add(other, 8, [&](Actor self) { return lock_both(self, second, first, {}); });
  fixture.machine.run();
  const auto answers = fixture.machine.finish();
  REQUIRE(answers.deadlocks.size() == 1);
  CHECK(answers.deadlocks[0].members == std::vector<std::size_t>{0, 1});
  CHECK(answers.deadlocks[0].victims.empty());
  CHECK(answers.deadlocks[0].ended.has_value() == gives_up);
  CHECK(answers.threads[1].ended.has_value() == gives_up);
  CHECK(answers.threads[0].open_wait.has_value() == !gives_up);
}

Program read_twice(Actor self, DispatcherObject& one, DispatcherObject& two) {
  self.read(one, 0x10000, 4096);
  self.read(two, 0x11000, 4096);
  co_await self.wait_all(one, two);
}

TEST_CASE("A disk serves one request after the other") {
  Fixture fixture;
  auto& one = fixture.machine.add_object(ObjectType::notification_event, 0);
  auto& two = fixture.machine.add_object(ObjectType::notification_event, 0);
  fixture.add(low, 8, [&](Actor self) { return read_twice(self, one, two); });
  fixture.machine.run();
  const auto requests = fixture.machine.finish().disk_requests;
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].start == requests[1].start);
  // 19 µs of interrupt and deferred call, and no seek before the second one.
  CHECK(*requests[1].end - *requests[0].end == 4096 / 5 + ticks_of(19us));
}

TEST_CASE("Runs of threads and idle time are the time, and a thread's times its life") {
  Fixture fixture{3};
  auto& mutant = fixture.machine.add_mutant();
  std::vector<u32> order;
  for (u32 id = 1; id < 9; ++id) {
    fixture.add(10 * id, static_cast<i8>(6 + id % 5),
                [&](Actor self) { return wait_and_note(self, mutant, order); });
    fixture.add(10 * id + 1, 8,
                [id](Actor self) { return sleep_and_compute(self, id * Duration{7'000}, 12ms); });
  }
  fixture.machine.run();
  const auto answers = fixture.machine.finish();
  u64 busy = 0;
  for (const auto& processor : answers.processors) {
    CHECK(processor.busy + processor.idle == answers.elapsed);
    busy += processor.busy;
  }
  u64 run = 0;
  for (const auto& thread : answers.threads) {
    run += thread.run;
    CHECK(thread.run + thread.ready + thread.wait == *thread.ended - *thread.since);
  }
  CHECK(run == busy);
}

}  // namespace
}  // namespace coldtrace::tracefile::synthesis
