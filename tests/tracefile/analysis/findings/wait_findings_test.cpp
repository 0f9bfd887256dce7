#include "coldtrace/trace_analysis/findings/wait_findings.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

// A clock of which a tick is 100 ns: a second is 10,000,000.
const tracefile::Clock clock_of_units{tracefile::ClockType::system_time, {}, 0, {1, 1}};

// Two threads that take turns on a processor, and the path of one of them.
struct Run {
  explicit Run(std::size_t pairs) {
    path.begin(observed);
    const auto one = population.thread(4), other = population.thread(8);
    i64 time = first;
    for (std::size_t i = 0; i < pairs; ++i)
      for (const auto& [from, to] : {std::pair{one, other}, {other, one}}) {
        ContextSwitch record{};
        record.moment = {time += 10, u16{0}, {}};
        record.old_thread = from;
        record.new_thread = to;
        record.continues = i > 0;
        record.old_state = ThreadState::ready;
        path.on_switch(record);
      }
    observed.last = time;
  }
  void add_dpcs(u64 count) {
    for (u64 i = 0; i < count; ++i) {
      const auto time = *observed.last + 2 * static_cast<i64>(i);
      path.on_interruption({{time + 1, u16{0}, {}}, time, {Service::Kind::dpc, u64{0xd9c}}});
    }
  }
  core::Findings note(std::span<const Hop> hops) {
    path.finish(observed);
    core::Findings findings;
    note_critical_path(path, hops, TraceTimes{clock_of_units, first}, findings);
    return findings;
  }

  static constexpr i64 first = 5'000'000;
  Population population;
  Losses losses;
  Observed observed{population, losses, first, first};
  CriticalPath path{std::numeric_limits<i64>::min()};
};

Hop hop(Hop::Kind kind, i64 from, i64 to) {
  Hop one;
  one.kind = kind;
  one.from = from;
  one.to = to;
  return one;
}

}  // namespace

TEST_CASE("a path of which all is known has no findings") {
  const std::vector hops{hop(Hop::Kind::running, 0, 10), hop(Hop::Kind::waiting, 10, 30)};
  CHECK(Run{3}.note(hops).empty());
}

TEST_CASE("how much of a path is unknown is told in seconds") {
  const std::vector hops{hop(Hop::Kind::unknown, 0, 12'000'000),
                         hop(Hop::Kind::running, 12'000'000, 20'000'000),
                         hop(Hop::Kind::unknown, 20'000'000, 20'345'678)};
  const auto findings = Run{3}.note(hops);
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code.view() == "path-unproved");
  CHECK(findings.all().front().text.starts_with("1.2345678 s of the path is unknown"));
  CHECK_FALSE(findings.has_warnings());
}

TEST_CASE("an interval of which turns were given up says from when on all is kept") {
  Run run{CriticalPath::most_turns};
  const auto findings = run.note({});
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code.view() == "window-cut");
  // Of 10 ticks each; two are not ended when the trace is, as critical_path_test.cpp has it.
  const auto known = 10 * static_cast<i64>(CriticalPath::most_turns + 2);
  CHECK(findings.all().front().text.find("before +" + seconds_text(known) + " is unknown") !=
        std::string::npos);
  CHECK(findings.has_warnings());
}

TEST_CASE("DPCs that were given up are information") {
  Run run{3};
  run.add_dpcs((u64{1} << 18U) + 1);
  const auto findings = run.note({});
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code.view() == "interrupts-cut");
  CHECK_FALSE(findings.has_warnings());
}
