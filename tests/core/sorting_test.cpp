#include "core/sorting.hpp"

#include <functional>
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

TEST_CASE("what was added at the end of a range comes to its place") {
  auto numbers = GENERATE(values<std::vector<int>>(
      {{}, {1}, {1, 2, 3}, {1, 3, 5, 2}, {2, 4, 6, 9, 1, 5}, {5, 4, 3, 2, 1}, {1, 1, 2, 1}}));
  auto expected = numbers;
  std::sort(expected.begin(), expected.end());
  core::sort_addition(numbers, std::less<>{});
  CHECK(numbers == expected);
}

}  // namespace
}  // namespace coldtrace
