#include "coldtrace/tracefile/names/stack_table.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace coldtrace::tracefile {
namespace {

using Verb = NameRecord::Verb;

NameRecord definition(u64 key, i64 time, u32 frames, Verb verb = Verb::ends) {
  return {NameRecord::Subject::stack, verb, 0, time, key, 0, 0, frames};
}

struct Use {
  i64 until;
  u64 frame;
};

// Uses of each key one after the other, by the plain rule: the first whose end is not before.
std::optional<u64> frame_of(const std::vector<Use>& uses, i64 time) {
  for (const auto& use : uses)
    if (use.until >= time) return use.frame;
  return std::nullopt;
}

}  // namespace

TEST_CASE("a key means what the first definition at or after the reference says") {
  std::minstd_rand random{1};
  std::map<u64, std::vector<Use>> uses;
  StackTable table;
  std::vector<NameRecord> records;
  std::vector<u64> frames;
  for (u64 key = 0; key < 50; ++key)
    for (i64 time = static_cast<i64>(random() % 5); time < 1000;
         time += 1 + static_cast<i64>(random() % 200)) {
      uses[key].push_back({time, 0x1000 + records.size()});
      frames.push_back(0x1000 + records.size());
      records.push_back(definition(key, time, 1));
    }
  // Buffers reach the file in any order.
  std::vector<std::size_t> order(records.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  const bool some_dropped = GENERATE(false, true);
  for (const auto i : order) {
    if (some_dropped && records[i].time > 300 && records[i].time < 600 && i % 3 == 0)
      table.drop(records[i]);
    else
      CHECK(table.add(records[i], &frames[i]));
  }
  table.finish();
  std::size_t found_frames = 0;
  for (const auto& [key, known] : uses)
    for (i64 time = -5; time < 1010; ++time) {
      const auto found = table.find({key, time, std::nullopt});
      const auto wanted = frame_of(known, time);
      if (found) {
        ++found_frames;
        CHECK(found->front() == wanted);
      } else if (!some_dropped) {
        CHECK_FALSE(wanted);
      }
    }
  CHECK(found_frames > 10'000);
}

TEST_CASE("what contradicts a reference is not its stack") {
  constexpr u64 kernel = u64{1} << 63U;
  StackTable table;
  const u64 frames[] = {kernel + 1, 0x10};
  table.add(definition(7, 100, 2), frames);
  table.add(definition(8, 100, 0, Verb::begins), nullptr);
  table.add(definition(8, 200, 1), frames + 1);
  table.finish();
  CHECK(table.find({7, 50, true}));
  CHECK(table.find({7, 100, true}));
  CHECK_FALSE(table.find({7, 50, false}));  // a definition of the user's was lost
  CHECK_FALSE(table.find({7, 101, true}));
  CHECK_FALSE(table.find({8, 99, std::nullopt}));  // the key is made anew in between
  CHECK(table.find({8, 100, std::nullopt}));
}

TEST_CASE("a stack that no kernel takes is not kept, and hides the next use of its key") {
  StackTable table;
  const std::vector<u64> frames(StackTable::most_frames + 1, 1);
  CHECK_FALSE(table.add(definition(1, 10, StackTable::most_frames + 1), frames.data()));
  CHECK(table.add(definition(1, 20, StackTable::most_frames), frames.data()));
  table.finish();
  CHECK_FALSE(table.find({1, 5, std::nullopt}));
  CHECK(table.find({1, 15, std::nullopt})->size() == StackTable::most_frames);
}

}  // namespace coldtrace::tracefile
