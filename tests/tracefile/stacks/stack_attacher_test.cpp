#include "coldtrace/tracefile/stacks/stack_attacher.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::tracefile;

namespace {

// Events at the given times, of which none is a stack.
class Times final : public EventSequence {
 public:
  explicit Times(std::vector<i64> times) : times_{std::move(times)} {}

  Item next() override {
    if (at_ == times_.size()) return Item::end;
    event_ = {};
    event_.timestamp = times_[at_++];
    event_.has_time = true;
    event_.tid = 8;
    return Item::event;
  }
  const Event& event() const override { return event_; }
  const std::shared_ptr<const Buffer>& buffer() const override { return buffer_; }
  const Gap& gap() const override { return gap_; }
  u64 unread_buffers() const override { return 0; }

 private:
  std::vector<i64> times_;
  std::size_t at_ = 0;
  Event event_{};
  std::shared_ptr<const Buffer> buffer_ = std::make_shared<const Buffer>();
  Gap gap_{};
};

std::vector<i64> handed_out(std::vector<i64> times, std::optional<i64> last,
                            const StackAttacher::Limits& limits) {
  const StackTable stacks;
  StackAttacher attacher{std::make_unique<Times>(std::move(times)), stacks, last, true, limits};
  std::vector<i64> seen;
  for (auto item = attacher.next(); item != EventSequence::Item::end; item = attacher.next()) {
    CHECK(item == EventSequence::Item::event);
    CHECK(attacher.stack() == nullptr);
    seen.push_back(attacher.event().timestamp);
  }
  CHECK(attacher.counts().attached == 0);
  return seen;
}

}  // namespace

TEST_CASE("events without stacks come as they came, however many may wait") {
  const std::vector<i64> times{10, 20, 20, 30, 40};
  CHECK(handed_out(times, std::nullopt, {}) == times);
  CHECK(handed_out(times, std::nullopt, {.events = 1}) == times);
}

TEST_CASE("events later than the last are left out") {
  CHECK(handed_out({10, 20, 30, 40}, 30, {}) == std::vector<i64>{10, 20, 30});
}
