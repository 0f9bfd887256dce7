#include "coldtrace/core/sorting.hpp"

#include <limits>
#include <random>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

constexpr u64 most = std::numeric_limits<u64>::max();

TEST_CASE("numbers spread in any way are sorted as std::sort does") {
  std::mt19937_64 random{1};
  const auto count = GENERATE(0U, 1U, 2U, 3U, 17U, 1000U);
  const auto mask = GENERATE(u64{0}, u64{1}, u64{100}, (u64{1} << 40) - 1, most);
  const auto outliers = GENERATE(0U, 1U, 2U);
  CAPTURE(count, mask, outliers);
  std::vector<u64> numbers;
  for (u32 i = 0; i < count; ++i) numbers.push_back(random() & mask);
  if (outliers > 0) numbers.push_back(most);
  if (outliers > 1) numbers.insert(numbers.begin(), 0);
  auto expected = numbers;
  std::sort(expected.begin(), expected.end());
  core::sort_spread(numbers);
  CHECK(numbers == expected);
}

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
