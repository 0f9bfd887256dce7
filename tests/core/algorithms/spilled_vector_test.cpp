#include "coldtrace/core/spilled_vector.hpp"

#include <cstdlib>
#include <random>

#include <catch2/catch.hpp>

namespace coldtrace::core {
namespace {

struct Record {
  u64 number;
  u16 part;
  friend bool operator==(const Record&, const Record&) = default;
};

void compare_with_vector(unsigned seed) {
  std::mt19937 random{seed};
  SpilledVector<Record> spilled{7};
  std::vector<Record> plain;
  for (int step = 0; step < 2000; ++step) {
    if (!plain.empty() && random() % 3 == 0) {
      const auto index = random() % plain.size();
      plain[index].number = random();
      REQUIRE(spilled.replace(index, plain[index]));
    } else {
      plain.push_back({random(), static_cast<u16>(random())});
      spilled.push_back(plain.back());
    }
    const auto index = random() % plain.size();
    REQUIRE(spilled.at(index) == plain[index]);
  }
  REQUIRE(spilled.size() == plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(spilled.at(i) == plain[i]);
  CHECK_FALSE(spilled.at(plain.size()));
}

}  // namespace

TEST_CASE("a spilled vector has what a vector has") {
  compare_with_vector(1);
}

TEST_CASE("without a temporary file a spilled vector stays in memory") {
  const auto* before = std::getenv("TMPDIR");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/nowhere", 1);
  compare_with_vector(2);
  if (before != nullptr)
    ::setenv("TMPDIR", saved.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
}

}  // namespace coldtrace::core
