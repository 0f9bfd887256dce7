#include "coldtrace/trace_analysis/waits/path_window.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

// A trace from 100 to 200: thread 8 lives until 120, another one has its id from 150 on, thread 12
// all the time.
struct Trace {
  Trace() {
    population.at_thread(population.start_thread(8, 100, {})).life.end = 120;
    population.at_thread(population.start_thread(8, 150, {})).life.end = 180;
    population.start_thread(12, 100, {});
  }
  PathWindow find(u32 tid, std::optional<i64> first = {}) {
    return find_path_window(observed, first, tid, findings);
  }

  Population population;
  Losses losses;
  Observed observed{population, losses, 100, 200};
  core::Findings findings;
};

}  // namespace

TEST_CASE("a window goes from what is asked for to the end of the trace or of the thread") {
  Trace trace;
  const auto whole = trace.find(12);
  CHECK((whole.from == 100 && whole.to == 200 && whole.thread == 2));
  CHECK(trace.find(12, 50).from == 100);
  const auto late = trace.find(8, 160);
  CHECK((late.from == 160 && late.to == 180 && late.thread == 1));
  CHECK(trace.findings.empty());
}

TEST_CASE("of several threads with an id none is chosen") {
  Trace trace;
  const auto window = trace.find(8);
  CHECK(window.thread == nobody);
  CHECK(window.candidates == std::vector<Index>{0, 1});
  CHECK(trace.findings.empty());
}

TEST_CASE("what is not in the interval is no-match") {
  Trace trace;
  CHECK_FALSE(trace.find(12, 201).from);
  CHECK(trace.findings.all().front().text == "no event of the trace is between --from and --to");
  Trace other;
  const auto window = other.find(16);
  CHECK((window.thread == nobody && window.candidates.empty() && window.from == 100));
  CHECK(other.findings.all().front().text == "there is no thread 16 in this interval");
  Population nobodies;
  Losses losses;
  core::Findings findings;
  CHECK_FALSE(find_path_window({nobodies, losses, {}, {}}, {}, 8, findings).to);
  CHECK(findings.empty());  // an empty trace says so itself
}

TEST_CASE("the unknown part of a path is the sum of its unknown hops") {
  std::vector<Hop> hops(3);
  for (std::size_t i = 0; i < hops.size(); ++i) {
    hops[i].from = static_cast<i64>(10 * i);
    hops[i].to = hops[i].from + static_cast<i64>(i) + 1;
  }
  hops[1].kind = Hop::Kind::running;
  CHECK(unknown_time(hops) == 1 + 3);
  CHECK(unknown_time({}) == 0);
}
