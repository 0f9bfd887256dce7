#include "coldtrace/trace_analysis/records/population.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

}  // namespace

TEST_CASE("an id in an interval is of those who had it then") {
  Population population;
  const auto ends_at = [&](Index thread, i64 time) {
    population.at_thread(thread).life.end = time;
  };
  population.idle_thread(0);
  const auto from_before = population.thread(8);
  ends_at(from_before, 20);
  const auto second = population.start_thread(8, 30, {});
  ends_at(second, 40);
  const auto unended = population.start_thread(8, 50, {});
  const auto last = population.start_thread(8, 70, {});
  const auto other = population.start_thread(12, 35, {});

  struct Row {
    u32 tid;
    i64 from, to;
    std::vector<Index> expected;
    const char* why;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {8, 0, 10, {from_before}, "whose start is not known was there"},
      {8, 20, 29, {from_before}, "at its end it is there"},
      {8, 21, 29, {}, "between two of them is nobody"},
      {8, 10, 30, {from_before, second}, "both ends are included"},
      {8, 41, 49, {}, "nobody again"},
      {8, 50, 69, {unended}, "whose end is not known is there"},
      {8, 60, 70, {unended, last}, "until the id is given again"},
      {8, 70, 90, {last}, "as it is when the interval begins"},
      {8, 0, 90, {from_before, second, unended, last}, "all of them"},
      {12, 0, 34, {}, "not yet"},
      {12, 0, 35, {other}, "at its start it is there"},
      {0, 0, 90, {}, "idle threads have no id of their own"},
      {4, 0, 90, {}, "an id that nobody had"},
  }));
  CAPTURE(row.why, row.from, row.to);
  CHECK(find_threads(population, row.tid, row.from, row.to) == row.expected);
}
