#include "coldtrace/trace_analysis/requests/rest.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

struct Request {
  i64 begin, end;
  u64 irp;
};

// A disk that has up to three requests at a time, whose IRPs are used again.
std::vector<Request> random_requests(u32 seed) {
  std::mt19937 random{seed};
  std::vector<Request> requests;
  std::array<i64, 3> free{0, 0, 0};
  for (int i = 0; i < 60; ++i) {
    const auto irp = random() % 3;
    const auto begin = free[irp] + 1 + static_cast<i64>(random() % 40);
    const auto end = begin + 1 + static_cast<i64>(random() % 30);
    requests.push_back({begin, end, irp});
    free[irp] = end;
  }
  return requests;
}

struct Event {
  i64 time;
  const Request* request;
  bool begins;
};

std::vector<Event> events_of(const std::vector<Request>& requests) {
  std::vector<Event> events;
  for (const auto& one : requests) {
    events.push_back({one.begin, &one, true});
    events.push_back({one.end, &one, false});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  return events;
}

// What is said of the events but one; those of an .etl trace have the duration at their end.
class Said {
 public:
  Said(const std::vector<Event>& events, bool measured, std::optional<std::size_t> removed = {}) {
    names_.finish();
    Observed observed{population_, losses_, 0, events.back().time + 10};
    DiskIo disk{names_,
                std::nullopt,
                CounterTicks{},
                {},
                [this](u32 number, const BusyTime::Interval& interval) {
                  rest_->add_disk_busy(number, interval);
                }};
    AtRest rest{clock_, policy_, 0,
                [this](const AtRest::Device&, const IdleTime& one) { idle.push_back(one); }};
    rest_ = &rest;
    rest.set_disk(disk);
    disk.begin(observed);
    rest.begin(observed);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == removed) continue;
      const auto& [time, request, begins] = events[i];
      if (begins) {
        DiskStart record{};
        record.moment.time = time;
        record.irp = request->irp;
        record.thread = nobody;
        record.action = DiskAction::read;
        if (!measured) record.disk = 0;
        disk.on_disk_start(record);
        continue;
      }
      DiskEnd record{};
      record.moment.time = time;
      record.irp = request->irp;
      record.thread = nobody;
      if (measured) {
        record.disk = 0;
        record.action = DiskAction::read;
        record.response = static_cast<u64>(request->end - request->begin);
      }
      disk.on_disk_end(record);
    }
    disk.finish(observed);
    rest.finish(observed);
    for (const auto& [device, one] : rest.devices()) {
      busy += one.busy();
      CHECK(one.busy() + one.idle() <= rest.elapsed());
    }
  }

  std::vector<IdleTime> idle;
  i64 busy = 0;

 private:
  Population population_;
  Losses losses_;
  tracefile::Clock clock_;
  RestPolicy policy_;
  tracefile::NameTables names_{1U << 16U};
  AtRest* rest_ = nullptr;
};

std::vector<bool> busy_ticks(const std::vector<Request>& requests, i64 until) {
  std::vector<bool> busy(static_cast<std::size_t>(until));
  for (const auto& one : requests)
    for (auto at = one.begin; at < one.end; ++at) busy[static_cast<std::size_t>(at)] = true;
  return busy;
}

}  // namespace

TEST_CASE("a disk is busy while it has requests, and idle else") {
  for (u32 seed = 0; seed < 50; ++seed) {
    const auto requests = random_requests(seed);
    const auto events = events_of(requests);
    const auto busy = busy_ticks(requests, events.back().time + 10);
    for (const bool measured : {false, true}) {
      const Said said{events, measured};
      CHECK(said.busy == std::count(busy.begin(), busy.end(), true));
      i64 idle = 0;
      for (const auto& one : said.idle) idle += one.to - one.from;
      CHECK(idle == std::count(busy.begin(), busy.end(), false));
    }
  }
}

TEST_CASE("an event that is missing makes no disk idle that was busy") {
  std::mt19937 random{9};
  for (u32 round = 0; round < 1000; ++round) {
    const auto requests = random_requests(round);
    const auto events = events_of(requests);
    const auto busy = busy_ticks(requests, events.back().time + 10);
    const Said said{events, round % 2 == 0, random() % events.size()};
    for (const auto& one : said.idle)
      for (auto at = one.from; at < one.to; ++at) REQUIRE_FALSE(busy[static_cast<std::size_t>(at)]);
    CHECK(said.busy <= std::count(busy.begin(), busy.end(), true));
  }
}

TEST_CASE("a timeout saves what is left of idle times after it") {
  const tracefile::Clock clock;
  const RestPolicy policy{{10, 100}, 5, 30};
  Rest rest{clock, policy};
  const RestEnd somebody{};
  rest.add_idle({0, 10, somebody});
  rest.add_idle({100, 130, somebody});
  rest.add_idle({200, 231, somebody});
  rest.add_idle({300, 500, std::nullopt});
  CHECK(rest.savings()[0].off(clock, policy.timeouts[0]) == 20 + 21 + 190);
  CHECK(rest.savings()[0].spin_ups == 2);
  CHECK(rest.savings()[0].waiting == 2 * 5);
  CHECK(rest.savings()[1].off(clock, policy.timeouts[1]) == 100);
  CHECK(rest.savings()[1].spin_ups == 0);
  CHECK(rest.savings()[1].waiting == 0);
  CHECK(rest.optimum().off(clock, 0) == 31 + 200);
  CHECK(rest.optimum().spin_ups == 1);
  CHECK(rest.optimum().waiting == 5);
  REQUIRE(rest.longest().size() == 4);
  CHECK(rest.longest()[0].from == 300);
  CHECK(rest.longest()[3].from == 0);
  CHECK(rest.idle() == 271);
}

TEST_CASE("what a timeout saves is rounded once, not for each idle time") {
  // Four ticks in a unit of 100 ns.
  const tracefile::Clock clock{tracefile::ClockType::performance_counter, {}, 0, {4, 1}};
  const RestPolicy policy{{5}, 5, 3};
  Rest rest{clock, policy};
  for (i64 i = 0; i < 3; ++i) rest.add_idle({i * 100, i * 100 + 43, std::nullopt});
  CHECK(rest.savings()[0].off(clock, policy.timeouts[0]) == 3 * 43 / 4 - 3 * 5);
  CHECK(rest.optimum().off(clock, 0) == 3 * 43 / 4);
}

TEST_CASE("the longest idle times are kept, and no more than that") {
  const tracefile::Clock clock;
  const RestPolicy policy;
  Rest rest{clock, policy};
  for (i64 i = 0; i < 1000; ++i) rest.add_idle({i * 2000, i * 2000 + i * 7 % 1000, std::nullopt});
  REQUIRE(rest.longest().size() == Rest::most_longest);
  CHECK(rest.longest().front().to - rest.longest().front().from == 999);
  CHECK(rest.longest().back().to - rest.longest().back().from == 900);
}
