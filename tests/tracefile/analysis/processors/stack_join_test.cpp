#include "coldtrace/trace_analysis/processors/stack_join.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using Frames = std::vector<u64>;

Frames frames_of(const StackJoin& join, StackJoin::Slot slot) {
  const auto frames = join.frames(slot);
  return {frames.begin(), frames.end()};
}

void add(StackJoin& join, i64 time, Index thread, const Frames& frames, bool of_kernel) {
  join.add({{}, time, thread, frames, of_kernel});
}

Frames numbered(std::size_t count, u64 first) {
  Frames frames;
  for (std::size_t i = 0; i < count; ++i) frames.push_back(first + i);
  return frames;
}

// The rule in plain words: of a time and thread that somebody waits for, the first part of each
// kind, that of the kernel in front, and of that the first frames.
struct Expected {
  std::vector<StackJoin::Slot> users;
  Frames kernel, user;

  Frames whole() const {
    auto all = kernel;
    all.insert(all.end(), user.begin(), user.end());
    return all;
  }
  Frames kept() const {
    auto all = whole();
    all.resize(std::min(all.size(), StackJoin::most_frames));
    return all;
  }
};

}  // namespace

TEST_CASE("frames of user mode stand behind those of the kernel, whichever come first") {
  for (const bool kernel_first : {true, false}) {
    StackJoin join;
    const auto slot = join.expect(100, 3);
    CHECK(join.frames(slot).empty());
    add(join, 100, 3, kernel_first ? Frames{1, 2} : Frames{7, 8}, kernel_first);
    add(join, 100, 3, kernel_first ? Frames{7, 8} : Frames{1, 2}, !kernel_first);
    CHECK(frames_of(join, slot) == Frames{1, 2, 7, 8});
    CHECK(join.time_of(slot) == 100);
  }
}

TEST_CASE("a stack of another time or thread, or one that nobody waits for, is not kept") {
  StackJoin join;
  add(join, 100, 3, {1}, true);
  const auto slot = join.expect(100, 3);
  add(join, 101, 3, {2}, true);
  add(join, 100, 4, {3}, true);
  CHECK(join.frames(slot).empty());
  CHECK(join.frames_held() == 0);
}

TEST_CASE("a slot that is released knows nothing of the stack that it had") {
  StackJoin join;
  const auto slot = join.expect(100, 3);
  add(join, 100, 3, {1, 2}, true);
  join.release(slot);
  CHECK(join.frames_held() == 0);
  const auto next = join.expect(100, 3);
  CHECK(join.frames(next).empty());
}

TEST_CASE("of a stack that is too long the innermost frames are kept, and it is counted once") {
  constexpr auto most = StackJoin::most_frames;
  for (const bool kernel_first : {true, false}) {
    StackJoin join;
    const auto kernel = numbered(100, 1'000'000);
    const auto user = numbered(most + 50, 1);
    const auto slot = join.expect(5, 1);
    add(join, 5, 1, kernel_first ? kernel : user, kernel_first);
    add(join, 5, 1, kernel_first ? user : kernel, !kernel_first);
    auto expected = kernel;
    expected.insert(expected.end(), user.begin(), user.end());
    expected.resize(most);
    CHECK(frames_of(join, slot) == expected);
    CHECK(join.frames_held() == most);
    CHECK(join.cut() == 1);
  }
}

TEST_CASE("stacks in any order are those of the events that they name") {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    StackJoin join;
    std::map<std::pair<i64, Index>, Expected> all;
    std::vector<std::pair<std::pair<i64, Index>, StackJoin::Slot>> held;
    u64 frame = 1;
    for (int step = 0; step < 100; ++step) {
      const std::pair<i64, Index> key{random() % 4, static_cast<Index>(random() % 3)};
      switch (random() % 3) {
        case 0: {
          const auto slot = join.expect(key.first, key.second);
          all[key].users.push_back(slot);
          held.emplace_back(key, slot);
          break;
        }
        case 1: {
          const auto frames = numbered(random() % 5 * (random() % 60), frame);
          frame += frames.size();
          const bool of_kernel = random() % 2 == 0;
          add(join, key.first, key.second, frames, of_kernel);
          const auto known = all.find(key);
          if (known == all.end()) break;
          auto& part = of_kernel ? known->second.kernel : known->second.user;
          if (part.empty()) part = frames;
          break;
        }
        default:
          if (held.empty()) break;
          const auto place = held.begin() + static_cast<std::ptrdiff_t>(random() % held.size());
          const auto [done, slot] = *place;
          held.erase(place);
          join.release(slot);
          auto& users = all[done].users;
          users.pop_back();
          if (users.empty()) all.erase(done);
      }
      std::size_t frames = 0;
      for (const auto& [one, expected] : all) frames += expected.kept().size();
      REQUIRE(join.frames_held() == frames);
      for (const auto& [one, slot] : held) {
        REQUIRE(frames_of(join, slot) == all[one].kept());
        REQUIRE(join.time_of(slot) == one.first);
      }
    }
  }
}
