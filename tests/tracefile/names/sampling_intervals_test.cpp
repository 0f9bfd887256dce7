#include "coldtrace/tracefile/names/sampling_intervals.hpp"

#include <catch2/catch.hpp>

using coldtrace::u32;
using coldtrace::tracefile::SamplingIntervals;

TEST_CASE("an interval between samples is in force until another one is set") {
  SamplingIntervals intervals;
  CHECK_FALSE(intervals.at(0));
  intervals.add({300, 20, 30});
  intervals.add({100, 10, 20});
  intervals.finish();
  for (const auto& [time, interval] :
       {std::pair{-5, 10U}, {99, 10U}, {100, 20U}, {299, 20U}, {300, 30U}, {1'000'000, 30U}})
    CHECK(intervals.at(time) == u32{interval});
}

TEST_CASE("the first interval that is told was so before, where nothing says otherwise") {
  SamplingIntervals intervals;
  intervals.add({100, 0, 20});
  intervals.finish();
  CHECK(intervals.at(50) == u32{20});
}
