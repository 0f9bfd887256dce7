#include "coldtrace/core/text_buffer.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

template <class T>
std::string decimal(T number) {
  core::TextBuffer text;
  text.append_decimal(number);
  return std::string{text.view()};
}

TEST_CASE("decimals are those of the C++ library") {
  u64 power = 1;
  for (int digits = 1; digits <= 20; ++digits, power *= 10) {
    for (const u64 number : {power - 1, power, power + 1}) {
      CHECK(decimal(number) == std::to_string(number));
      const auto negative = -static_cast<i64>(number / 2);
      CHECK(decimal(negative) == std::to_string(negative));
    }
  }
  for (int bits = 0; bits < 64; ++bits) {
    const u64 number = u64{1} << bits;
    CHECK(decimal(number) == std::to_string(number));
    CHECK(decimal(number - 1) == std::to_string(number - 1));
  }
  CHECK(decimal(~u64{0}) == "18446744073709551615");
  CHECK(decimal(std::numeric_limits<i64>::min()) == "-9223372036854775808");
  std::mt19937_64 random{1};
  for (int i = 0; i < 10'000; ++i) {
    const u64 number = random() >> random() % 64;
    REQUIRE(decimal(number) == std::to_string(number));
  }
}

TEST_CASE("hexadecimal numbers are those of printf's %#llx, and 0x0") {
  const auto hexadecimal = [](u64 number) {
    core::TextBuffer text;
    text.append_hex(number);
    return std::string{text.view()};
  };
  CHECK(hexadecimal(0) == "0x0");
  CHECK(hexadecimal(~u64{0}) == "0xffffffffffffffff");
  std::mt19937_64 random{2};
  for (int i = 0; i < 10'000; ++i) {
    const u64 number = (random() >> random() % 64) | 1U;
    std::array<char, 32> expected{};
    std::snprintf(expected.data(), expected.size(), "%#llx",
                  static_cast<unsigned long long>(number));
    REQUIRE(hexadecimal(number) == expected.data());
  }
}

TEST_CASE("numbers follow each other in a buffer that grows") {
  core::TextBuffer text;
  std::string expected;
  for (u64 i = 0; i < 1'000; ++i) {
    text.append_decimal(i * i * i * i * i);
    text.append(' ');
    expected += std::to_string(i * i * i * i * i) + ' ';
  }
  CHECK(text.view() == expected);
}

}  // namespace
}  // namespace coldtrace
