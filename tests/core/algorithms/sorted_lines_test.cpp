#include "coldtrace/core/sorted_lines.hpp"

#include <random>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::core;

// The standard library's stable sort says what is right.
TEST_CASE("sorted lines are what a stable sort gives, in memory and from runs") {
  const std::size_t memory =
      GENERATE(std::size_t{1}, std::size_t{200}, std::size_t{5000}, SortedLines::usual_memory);
  std::mt19937_64 random{memory};
  std::vector<std::pair<u64, std::string>> plain;
  SortedLines sorted{memory};
  for (std::size_t i = 0; i < 3000; ++i) {
    const u64 key = i % 7 == 0 ? random() : random() % 50;
    plain.emplace_back(key, std::string(random() % 40, 'x') + std::to_string(i));
    REQUIRE(sorted.add(key, plain.back().second));
  }
  std::ranges::stable_sort(plain, {}, &std::pair<u64, std::string>::first);
  std::size_t next = 0;
  REQUIRE(sorted.take([&](std::string_view text) {
    REQUIRE(next < plain.size());
    REQUIRE(text == plain[next++].second);
  }));
  CHECK(next == plain.size());
}

TEST_CASE("sorted lines are empty when they were taken") {
  SortedLines sorted{64};
  for (const auto* text : {"c", "", "a long line that is more than what may be in memory at once"})
    REQUIRE(sorted.add(7, text));
  std::size_t count = 0;
  REQUIRE(sorted.take([&](std::string_view) { ++count; }));
  CHECK(count == 3);
  REQUIRE(sorted.take([&](std::string_view) { ++count; }));
  CHECK(count == 3);
}
