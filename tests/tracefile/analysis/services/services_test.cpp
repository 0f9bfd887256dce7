#include "coldtrace/trace_analysis/services/services.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

struct Call {
  i64 time;
  u64 service;
  bool enters;
};

struct Sums {
  u64 calls = 0;
  i64 inclusive = 0, exclusive = 0;
};

// A thread whose calls make others, the same ones too, and what each service cost: tick for tick,
// by who was called last and had not returned.
struct Run {
  explicit Run(u32 seed) {
    std::mt19937 random{seed};
    std::vector<u64> open;
    i64 time = 0;
    for (int i = 0; i < 60 || !open.empty(); ++i) {
      const auto passed = static_cast<i64>(random() % 10);
      for (i64 tick = 0; tick < passed && !open.empty(); ++tick) {
        ++sums[open.back()].exclusive;
        std::map<u64, bool> counted;
        for (const auto service : open)
          if (!std::exchange(counted[service], true)) ++sums[service].inclusive;
      }
      time += passed;
      const bool enters = open.empty() || (i < 60 && open.size() < 6 && random() % 2 == 0);
      if (enters) open.push_back(random() % 4);
      calls.push_back({time, open.back(), enters});
      if (enters) continue;
      ++sums[open.back()].calls;
      open.pop_back();
    }
  }

  std::vector<Call> calls;
  std::map<u64, Sums> sums;
};

std::map<u64, Sums> services_of(const std::vector<Call>& calls,
                                std::optional<std::size_t> removed = {}) {
  Population population;
  const Losses losses;
  const Observed observed{population, losses, 0, calls.back().time};
  const auto thread = population.thread(8);
  tracefile::NameTables names{0};
  names.finish();
  ImageOffsets images{names};
  CodeNames code{names, images};
  Services services{code};
  services.begin(observed);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i == removed) continue;
    CallRecord record{};
    record.moment.time = calls[i].time;
    record.thread = thread;
    record.enters = calls[i].enters;
    record.service = Service{Service::Kind::system_call, calls[i].service};
    services.on_call(record);
  }
  services.finish(observed);
  std::map<u64, Sums> sums;
  for (const auto& one : services.services())
    sums[one.service.number] = {one.calls, one.inclusive, one.exclusive};
  return sums;
}

}  // namespace

TEST_CASE("calls in calls cost what each of their ticks says") {
  for (u32 seed = 0; seed < 200; ++seed) {
    const Run run{seed};
    const auto found = services_of(run.calls);
    REQUIRE(found.size() == run.sums.size());
    for (const auto& [service, sums] : run.sums) {
      CHECK(found.at(service).calls == sums.calls);
      CHECK(found.at(service).inclusive == sums.inclusive);
      CHECK(found.at(service).exclusive == sums.exclusive);
    }
  }
}

TEST_CASE("a call or return that is missing gives no service more time") {
  u64 less = 0;
  for (u32 seed = 0; seed < 1000; ++seed) {
    const Run run{seed};
    const auto whole = run.sums;
    for (const auto& [service, sums] : services_of(run.calls, seed * 7 % run.calls.size())) {
      const auto before = whole.find(service);
      REQUIRE(before != whole.end());
      CHECK(sums.calls <= before->second.calls);
      CHECK(sums.inclusive <= before->second.inclusive);
      CHECK(sums.exclusive <= before->second.exclusive);
      if (sums.calls < before->second.calls) ++less;
    }
  }
  CHECK(less >= 1000);
}
