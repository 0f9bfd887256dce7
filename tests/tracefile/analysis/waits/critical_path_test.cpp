#include "coldtrace/trace_analysis/waits/critical_path.hpp"

#include <limits>

#include <catch2/catch.hpp>

#include "tests/tracefile/analysis/random_schedule.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using fixtures::RandomSchedule;
using Kind = Hop::Kind;

// Switches and wake-ups of threads by their ids, with the path of one of them.
class Machine {
 public:
  Machine() { path_.begin(observed_); }

  void switch_to(i64 time, u16 cpu, u32 old_tid, u32 new_tid, ThreadState old_state) {
    ContextSwitch record{};
    record.moment = {time, cpu, {}};
    record.old_thread = find(old_tid, cpu);
    record.new_thread = find(new_tid, cpu);
    record.continues = current_.at(cpu) == record.old_thread;
    record.old_state = old_state;
    record.wait_reason = 6;
    current_.at(cpu) = record.new_thread;
    path_.on_switch(record);
    see(time);
  }
  void ready(i64 time, u16 cpu, u32 tid, u32 waker) {
    path_.on_ready(
        {{time, cpu, {}}, find(tid, cpu), waker == 0 ? nobody : find(waker, cpu), waker == 0});
    see(time);
  }
  void dpc(i64 begin, i64 end, u16 cpu, u64 routine) {
    path_.on_interruption({{end, cpu, {}}, begin, {Service::Kind::dpc, routine}});
    see(end);
  }
  std::vector<Hop> find_path(u32 tid) {
    if (!std::exchange(finished_, true)) path_.finish(observed_);
    return path_.find(find(tid, 0), *observed_.first, *observed_.last);
  }
  const CriticalPath& path() const { return path_; }
  i64 first() const { return *observed_.first; }
  i64 last() const { return *observed_.last; }

 private:
  Index find(u32 tid, u16 cpu) {
    return tid == 0 ? population_.idle_thread(cpu) : population_.thread(tid);
  }
  void see(i64 time) {
    if (!observed_.first) observed_.first = time;
    observed_.last = time;
  }

  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, std::nullopt, std::nullopt};
  CriticalPath path_{std::numeric_limits<i64>::min()};
  std::vector<Index> current_ = std::vector<Index>(RandomSchedule::processors, nobody);
  bool finished_ = false;
};

// Time of each kind, once the hops are found to follow each other.
std::map<Kind, i64> times_of(const std::vector<Hop>& hops, i64 first, i64 last) {
  std::map<Kind, i64> times;
  REQUIRE_FALSE(hops.empty());
  CHECK(hops.front().from == first);
  CHECK(hops.back().to == last);
  for (std::size_t i = 0; i < hops.size(); ++i) {
    CHECK(hops[i].from < hops[i].to);
    if (i > 0) CHECK(hops[i].from == hops[i - 1].to);
    times[hops[i].kind] += hops[i].to - hops[i].from;
  }
  return times;
}

}  // namespace

TEST_CASE("a wait is what the waker did meanwhile") {
  Machine machine;
  machine.switch_to(100, 0, 4, 8, ThreadState::waiting);  // 4 waits, 8 runs
  machine.switch_to(130, 0, 8, 12, ThreadState::ready);   // 12 pushes it off
  machine.switch_to(170, 0, 12, 8, ThreadState::waiting);
  machine.ready(190, 0, 4, 8);
  machine.switch_to(200, 0, 8, 4, ThreadState::waiting);
  machine.switch_to(220, 0, 4, 0, ThreadState::waiting);
  const auto hops = machine.find_path(4);
  REQUIRE(hops.size() == 5);
  CHECK(times_of(hops, 100, 220) == std::map<Kind, i64>{{Kind::running, 30 + 20 + 20},
                                                        {Kind::preempted, 40},
                                                        {Kind::ready, 10}});
  CHECK(hops[0].depth == 1);
  CHECK(hops[2].end == Hop::End::made_ready);
  CHECK(hops[3].depth == 0);
}

TEST_CASE("threads that wake each other at one moment end") {
  Machine machine;
  machine.switch_to(100, 0, 4, 0, ThreadState::waiting);
  machine.switch_to(100, 1, 8, 0, ThreadState::waiting);
  machine.ready(200, 0, 4, 8);
  machine.ready(200, 1, 8, 4);
  machine.switch_to(210, 0, 0, 4, ThreadState::ready);
  machine.switch_to(210, 1, 0, 8, ThreadState::ready);
  machine.switch_to(220, 0, 4, 0, ThreadState::waiting);
  const auto times = times_of(machine.find_path(4), 100, 220);
  CHECK(times.at(Kind::waiting) == 100);
  CHECK(times.at(Kind::running) == 10);
}

TEST_CASE("a wait for a wait for a wait is followed so far and no farther") {
  Machine machine;
  const u32 threads = CriticalPath::most_depth + 50;
  for (u32 i = 1; i <= threads; ++i)
    machine.switch_to(i, 0, 4 * i, 4 * (i + 1), ThreadState::waiting);
  i64 time = 1000;
  for (u32 i = threads; i >= 1; --i) {
    machine.ready(++time, 0, 4 * i, 4 * (i + 1));
    machine.switch_to(++time, 0, 4 * (i + 1), 4 * i, ThreadState::waiting);
  }
  const auto hops = machine.find_path(4);
  times_of(hops, 1, time);
  for (const auto& hop : hops) CHECK(hop.depth < CriticalPath::most_depth);
}

TEST_CASE("what is kept of a window that is too long is its end: window-cut") {
  Machine machine;
  i64 time = 0;
  for (std::size_t i = 0; i < CriticalPath::most_turns; ++i) {
    machine.switch_to(time += 10, 0, 4, 8, ThreadState::ready);
    machine.switch_to(time += 10, 0, 8, 4, ThreadState::ready);
  }
  const auto hops = machine.find_path(4);
  const auto times = times_of(hops, machine.first(), machine.last());
  REQUIRE(machine.path().given_up_before());
  const auto known = *machine.path().given_up_before();
  CHECK(hops.front().kind == Kind::unknown);
  CHECK(hops.front().to == known);
  CHECK(times.at(Kind::unknown) == known - machine.first());
  // Each is of 10 ticks but the last one and what the other thread does, which begin at the end.
  CHECK(machine.last() - known == static_cast<i64>(CriticalPath::most_turns - 2) * 10);
}

TEST_CASE("the DPC that ended a wait is named, of the last ones: interrupts-cut") {
  constexpr u64 most = u64{1} << 18;
  for (const u64 before : {u64{0}, most}) {
    Machine machine;
    machine.switch_to(100, 0, 4, 0, ThreadState::waiting);
    machine.ready(200, 0, 4, 0);
    machine.dpc(190, 210, 0, 0xd9c);
    machine.switch_to(220, 0, 0, 4, ThreadState::ready);
    for (u64 i = 0; i < before; ++i) {
      const auto time = static_cast<i64>(1000 + 2 * i);
      machine.dpc(time, time + 1, 0, 1);
    }
    machine.switch_to(2'000'000, 0, 4, 0, ThreadState::waiting);
    const auto hops = machine.find_path(4);
    REQUIRE(hops.front().kind == Kind::interrupt);
    CHECK(hops.front().end == Hop::End::made_ready);
    CHECK(hops.front().interrupter.has_value() == (before == 0));
    CHECK(machine.path().interrupts_given_up() == (before == 0 ? 0 : most / 2));
  }
}

TEST_CASE("paths of made-up runs fill their time, whatever event is missing") {
  for (u64 seed = 0; seed < 100; ++seed) {
    const RandomSchedule run{seed, 150};
    for (const auto removed :
         {std::optional<std::size_t>{}, std::optional{seed % run.steps.size()}}) {
      Machine machine;
      for (std::size_t i = 0; i < run.steps.size(); ++i) {
        const auto& step = run.steps[i];
        if (i == removed) continue;
        if (step.is_switch)
          machine.switch_to(step.time, step.cpu, step.old_tid, step.new_tid,
                            static_cast<ThreadState>(step.old_state));
        else
          machine.ready(step.time, step.cpu, step.readied, step.waker);
      }
      for (u32 tid = 4; tid <= 4 * RandomSchedule::threads; tid += 4)
        times_of(machine.find_path(tid), machine.first(), machine.last());
    }
  }
}
