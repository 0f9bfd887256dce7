#include "coldtrace/core/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

// Counts who is inside at once.
class Turnstile {
 public:
  template <class Body>
  void pass(Body&& body) {
    if (++inside_ > 1) crowded_ = true;
    body();
    --inside_;
  }
  bool crowded() const { return crowded_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<bool> crowded_ = false;
};

// Busy for a while that differs from item to item.
void dawdle(int item) {
  std::atomic<int> spins = item % 7 == 0 ? 20'000 : item % 3 * 500;
  while (spins > 0) --spins;
}

TEST_CASE("an ordered pipeline keeps the order, and produces and consumes one at a time") {
  const unsigned jobs = GENERATE(1U, 2U, 5U);
  constexpr int count = 1000;
  int next = 0;
  Turnstile producer;
  Turnstile consumer;
  std::atomic<bool> worker_in_range = true;
  std::vector<int> out;
  core::ordered_pipeline<int>(
      jobs,
      [&](int& item) {
        producer.pass([&] { item = next++; });
        return next <= count;
      },
      [&](unsigned worker, int& item) {
        if (worker >= jobs) worker_in_range = false;
        dawdle(item);
        item *= 2;
      },
      [&](int& item) { consumer.pass([&] { out.push_back(item); }); });
  REQUIRE(out.size() == count);
  for (int i = 0; i < count; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == i * 2);
  CHECK_FALSE(producer.crowded());
  CHECK_FALSE(consumer.crowded());
  CHECK(worker_in_range);
}

TEST_CASE("an ordered pipeline throws what any of its parts threw") {
  const unsigned jobs = GENERATE(1U, 2U, 5U);
  const std::string thrower = GENERATE("produce", "work", "consume");
  CAPTURE(jobs, thrower);
  const auto fail_at = [&](const char* part, int item) {
    if (thrower == part && item == 17) throw std::runtime_error{part};
  };
  int next = 0;
  int consumed = 0;
  CHECK_THROWS_WITH(core::ordered_pipeline<int>(
                        jobs,
                        [&](int& item) {
                          item = next++;
                          fail_at("produce", item);
                          return item < 1000;
                        },
                        [&](unsigned, int& item) { fail_at("work", item); },
                        [&](int& item) {
                          fail_at("consume", item);
                          ++consumed;
                        }),
                    thrower);
  CHECK(consumed <= 17);
}

TEST_CASE("work on every item is done once") {
  const unsigned jobs = GENERATE(1U, 2U, 5U);
  std::vector<std::atomic<int>> seen(500);
  core::parallel_for(jobs, seen.size(), [&](unsigned, u64 item) { ++seen[item]; });
  for (const auto& count : seen) REQUIRE(count == 1);
  CHECK_THROWS_AS(core::parallel_for(jobs, 500,
                                     [](unsigned, u64 item) {
                                       if (item == 17) throw std::runtime_error{"work"};
                                     }),
                  std::runtime_error);
}

}  // namespace
}  // namespace coldtrace
