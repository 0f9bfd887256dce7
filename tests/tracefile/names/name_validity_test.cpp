#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/names/managed_code.hpp"
#include "coldtrace/tracefile/names/timeline.hpp"

namespace coldtrace::tracefile {
namespace {

using Verb = ManagedRecord::Verb;

constexpr i64 last_time = 1000;

struct Answers {
  std::size_t changes = 0;  // of what is found, from one time to the next
  std::size_t wrong = 0;    // times for which a look-up is not valid though it says so
};

// `find(time, validity)` gives something comparable.
template <class Find>
void check_validity(Answers& answers, Find&& find) {
  for (i64 time = 0; time < last_time; ++time) {
    NameValidity validity{time};
    const auto found = find(time, validity);
    if (validity.from() > time || validity.to() <= time) ++answers.wrong;
    for (const auto other : {validity.from(), (validity.from() + time) / 2, validity.to() - 1}) {
      NameValidity of_other{other};
      if (other >= 0 && other <= last_time && find(other, of_other) != found) ++answers.wrong;
    }
    NameValidity next{time + 1};
    if (find(time + 1, next) == found) continue;
    ++answers.changes;
    if (validity.to() != time + 1) ++answers.wrong;
  }
}

}  // namespace

TEST_CASE("an entry of a timeline is valid up to the next one of its key") {
  std::minstd_rand random{7};
  Timeline timeline;
  for (u32 i = 1; i <= 200; ++i)
    timeline.add({random() % 5, static_cast<i64>(random() % last_time), i, i & 0xffffU,
                  static_cast<u32>(random() % 4) & 3U});
  timeline.finish();
  Answers answers;
  for (u64 key = 0; key < 6; ++key)
    check_validity(answers, [&](i64 time, NameValidity& validity) {
      return timeline.find(key, time, validity);
    });
  CHECK(answers.changes > 50);
  CHECK(answers.wrong == 0);
}

TEST_CASE("a method is valid as long as its code, and that around it, is where it is") {
  std::minstd_rand random{3};
  ManagedCode code;
  const bool some_dropped = GENERATE(false, true);
  for (u32 i = 1; i <= 300; ++i) {
    ManagedRecord record;
    record.of = random() % 8 == 0 ? ManagedRecord::Of::entry_point : ManagedRecord::Of::method;
    record.verb = static_cast<Verb>(random() % 4);
    record.pid = static_cast<u32>(random() % 2);
    record.time = static_cast<i64>(random() % last_time);
    record.start = 0x1000 + 0x10 * (random() % 20);
    record.size = static_cast<u32>(0x8 * (random() % 6));
    code.add(record, static_cast<u32>(random() % 50));
    if (some_dropped && i == 200) {
      record.time = 900;
      code.drop(record);
    }
  }
  code.finish();
  Answers answers;
  for (u32 pid = 0; pid < 2; ++pid)
    for (u64 address = 0xff8; address < 0x1180; address += 0x18)
      check_validity(answers, [&](i64 time, NameValidity& validity) {
        const auto found = code.find(pid, address, time, validity);
        return found ? std::optional{std::pair{found->number, found->start}} : std::nullopt;
      });
  CHECK(answers.changes > 100);
  CHECK(answers.wrong == 0);
}

// As the first rundown of a second file does.
TEST_CASE("code that a rundown tells of behind an end is there since that end") {
  ManagedCode code;
  const auto tell = [&](Verb verb, i64 time, u32 name) {
    ManagedRecord record;
    record.verb = verb;
    record.time = time;
    record.start = 0x1000;
    record.size = 0x100;
    code.add(record, name);
  };
  tell(Verb::begins, 10, 1);
  tell(Verb::ends, 20, 1);
  tell(Verb::exists_before, 30, 2);
  code.finish();
  const auto name_at = [&](i64 time) {
    NameValidity validity{time};
    const auto found = code.find(0, 0x1010, time, validity);
    return found ? found->name : 0;
  };
  CHECK(name_at(9) == 0);
  CHECK(name_at(15) == 1);
  CHECK(name_at(20) == 2);
  CHECK(name_at(40) == 2);
}

}  // namespace coldtrace::tracefile
