#include "coldtrace/core/sorting.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("a range that is in order, or nearly, or not, is sorted as std::stable_sort does") {
  const auto numbers = GENERATE(values<std::vector<int>>(
      {{}, {1}, {1, 2, 3}, {1, 3, 5, 2}, {2, 4, 6, 9, 1, 5}, {5, 4, 3, 2, 1}, {2, 2, 3, 2, 3, 1}}));
  std::vector<std::pair<int, std::size_t>> places;
  for (const int number : numbers) places.emplace_back(number, places.size());
  auto expected = places;
  const auto by_number = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(expected.begin(), expected.end(), by_number);
  core::stable_sort_if_needed(places, by_number);
  CHECK(places == expected);
}

}  // namespace
}  // namespace coldtrace
