#include "coldtrace/tracefile/where/expectations.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using tracefile::Expectation;

Expectation expected(std::optional<u64> min, std::optional<u64> max, u64 events, bool no_match) {
  Expectation expectation;
  expectation.min = min;
  expectation.max = max;
  expectation.events = events;
  expectation.no_match = no_match;
  return expectation;
}

TEST_CASE("at least one event is expected where no limit is given") {
  CHECK_FALSE(expected({}, {}, 0, false).met());
  CHECK(expected({}, {}, 1, false).met());
  CHECK(expected({}, 0, 0, false).met());
  CHECK_FALSE(expected({}, 0, 1, false).met());
  CHECK(expected(2, 3, 3, false).met());
  CHECK_FALSE(expected(2, 3, 4, false).met());
}

TEST_CASE("what no event has is no proof that there are events") {
  CHECK_FALSE(expected({}, {}, 6, true).met());
  CHECK(expected({}, {}, 6, true).within_limits());
  CHECK(expected({}, 0, 0, true).met());
  CHECK(expected(0, 3, 0, true).met());
}

}  // namespace
}  // namespace coldtrace
