#include "coldtrace/trace_analysis/records/trace_times.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("units of 100 ns are seconds of seven digits, or what fits") {
  CHECK(seconds_text(12'345'678) == "1.2345678");
  CHECK(seconds_text(1) == "0.0000001");
  CHECK(duration_text(173) == "17.3 us");
  CHECK(duration_text(123'500) == "12.35 ms");
  CHECK(duration_text(12'350'000) == "1.235 s");
  CHECK(duration_text(0) == "0 s");
  CHECK(duration_text(9'999'949) == "999.99 ms");
  CHECK(duration_text(9'999'950) == "1.000 s");
  CHECK(duration_text(i64{86'400} * 10'000'000) == "86,400.000 s");
}

TEST_CASE("a moment is told from the first event on, and before it too") {
  // 2,000,000 ticks a second.
  const tracefile::Clock clock{tracefile::ClockType::performance_counter, {}, 0, {1, 5}};
  const TraceTimes times{clock, 100};
  CHECK(times.since_start(100) == "+0.0000000");
  CHECK(times.since_start(100 + 2'000'000) == "+1.0000000");
  CHECK(times.since_start(98) == "-0.0000010");
  CHECK(times.text(2'000) == "1.00 ms");
}

TEST_CASE("a trace without a clock has no time of day") {
  const tracefile::Clock lost;
  CHECK_FALSE(TraceTimes(lost, 0).utc(5));
  // Source: FILETIME counts from 1601-01-01.
  const tracefile::Clock clock{tracefile::ClockType::system_time, {}, 0, {1, 1}};
  CHECK(TraceTimes(clock, 0).utc(10'000'000) == "1601-01-01T00:00:01.0000000Z");
  CHECK_FALSE(TraceTimes(clock, 0).utc(std::nullopt));
}
