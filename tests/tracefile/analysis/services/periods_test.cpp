#include "coldtrace/trace_analysis/services/periods.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("periods of one length follow each other from the first event on") {
  const auto periods = Periods::of_length(10);
  CHECK(periods.number_of(100, 100) == 0);
  CHECK(periods.number_of(109, 100) == 0);
  CHECK(periods.number_of(110, 100) == 1);
  CHECK(periods.number_of(99, 100) == 0);  // a time that runs backwards
  CHECK(periods.span_of(1, 100).from == 110);
  CHECK(periods.span_of(1, 100).to == 120);
}

TEST_CASE("periods at the ends of what a clock can count have ends") {
  constexpr static auto least = std::numeric_limits<i64>::min();
  constexpr static auto most = std::numeric_limits<i64>::max();
  const auto length = GENERATE(i64{1}, i64{3}, most);
  const auto periods = Periods::of_length(length);
  const auto number = periods.number_of(most, least);
  CHECK(periods.span_of(number, least).from <= most);
  CHECK(periods.span_of(periods.number_of(most, most - 1), most - 1).to == most);
}

TEST_CASE("a moment is the first of its period") {
  const auto periods = Periods::from_moments({20, 10});
  CHECK(periods.number_of(9, 0) == 0);
  CHECK(periods.number_of(10, 0) == 1);
  CHECK(periods.number_of(20, 0) == 2);
  CHECK_FALSE(periods.span_of(0, 0).from);
  CHECK(periods.span_of(0, 0).to == 10);
  CHECK(periods.span_of(1, 0).from == 10);
  CHECK(periods.span_of(1, 0).to == 20);
  CHECK(periods.span_of(2, 0).from == 20);
  CHECK_FALSE(periods.span_of(2, 0).to);
}
