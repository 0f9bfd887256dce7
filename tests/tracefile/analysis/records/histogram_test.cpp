#include "coldtrace/trace_analysis/records/histogram.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

using coldtrace::trace_analysis::Histogram;
using namespace coldtrace;

TEST_CASE("percentiles are within a step of those of the sorted values") {
  std::mt19937_64 random{1};
  for (const unsigned bits : {3U, 8U, 20U, 40U, 64U}) {
    Histogram histogram;
    std::vector<u64> values;
    for (int i = 0; i < 5000; ++i) {
      values.push_back(random() >> (64 - bits));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    CHECK(histogram.count() == values.size());
    CHECK(histogram.least() == values.front());
    CHECK(histogram.greatest() == values.back());
    for (const unsigned percent : {1U, 25U, 50U, 90U, 99U, 100U}) {
      const auto exact = values[(values.size() * percent + 99) / 100 - 1];
      const auto found = *histogram.percentile(percent);
      CHECK(found >= exact);
      CHECK(found - exact <= exact / 32);
    }
  }
}

TEST_CASE("a power of two is the last of its step") {
  for (unsigned bit = 0; bit < 64; ++bit) {
    Histogram histogram;
    histogram.add(u64{1} << bit);
    const auto steps = histogram.steps();
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].greatest == u64{1} << bit);
    histogram.add((u64{1} << bit) + 1);
    CHECK(histogram.steps().size() == 2);
  }
}

TEST_CASE("a histogram without values has no percentile") {
  CHECK_FALSE(Histogram{}.percentile(50));
}
