#include "coldtrace/trace_analysis/requests/disk_io.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

constexpr i64 least = std::numeric_limits<i64>::min();
constexpr i64 most = std::numeric_limits<i64>::max();

// Requests of a trace from time 1000 on, whose counter is its clock.
class Told {
 public:
  Told() {
    observed_.first = 1000;
    requests_.begin(observed_);
  }

  void start(i64 time, u64 irp, Index thread = nobody, std::optional<u32> disk = {}) {
    DiskStart record{};
    record.moment.time = time;
    record.irp = irp;
    record.thread = thread;
    record.action = DiskAction::read;
    record.disk = disk;
    record.offset = irp * 16;
    requests_.on_disk_start(record);
  }
  // As an .etl trace has it.
  void measured_end(i64 time, u64 irp, u64 response, Index thread = nobody, u32 disk = 0) {
    DiskEnd record{};
    record.moment.time = time;
    record.irp = irp;
    record.action = DiskAction::read;
    record.disk = disk;
    record.response = response;
    record.thread = thread;
    requests_.on_disk_end(record);
  }
  // As a .ctrace trace has it.
  void bare_end(i64 time, u64 irp) {
    DiskEnd record{};
    record.moment.time = time;
    record.irp = irp;
    record.thread = nobody;
    requests_.on_disk_end(record);
  }

  Population population;
  std::vector<DiskRequest> ended;
  const DiskRequests::Counts& counts() const { return requests_.counts(); }
  std::vector<DiskStart> open() const { return requests_.open(); }

 private:
  Losses losses_;
  Observed observed_{population, losses_, std::nullopt, std::nullopt};
  DiskRequests requests_{CounterTicks{}, [this](const DiskRequest& one) { ended.push_back(one); }};
};

}  // namespace

TEST_CASE("a request whose begin and end were logged has both") {
  Told told;
  told.start(1010, 7, 3, 2);
  told.bare_end(1050, 7);
  REQUIRE(told.ended.size() == 1);
  const auto& one = told.ended.front();
  CHECK(one.begin == 1010);
  CHECK(one.response == 40);
  CHECK(one.service == 40);
  CHECK(one.thread == 3);
  CHECK(one.disk == 2U);
  CHECK(one.offset == u64{7 * 16});
  CHECK(told.open().empty());
}

TEST_CASE("an end of nothing that is known is not a request") {
  Told told;
  told.bare_end(1050, 7);
  CHECK(told.ended.empty());
  CHECK(told.counts().lone_ends == 1);
}

TEST_CASE("a request is served from the end of the one before it, of its own disk") {
  Told told;
  told.measured_end(1100, 1, 100);
  told.measured_end(1130, 2, 120);
  told.measured_end(1140, 3, 120, nobody, 1);
  told.measured_end(1200, 4, 10);
  REQUIRE(told.ended.size() == 4);
  CHECK(told.ended[0].service == 100);
  CHECK(told.ended[1].service == 30);
  CHECK(told.ended[2].service == 120);
  CHECK(told.ended[3].service == 10);
}

TEST_CASE("which disk was done with what ended unseen is not known, until each has an end again") {
  Told told;
  told.measured_end(1100, 1, 10);
  told.bare_end(1150, 7);
  told.measured_end(1200, 2, 60);
  told.measured_end(1230, 3, 90);
  told.measured_end(1240, 4, 100, nobody, 1);
  told.measured_end(1250, 5, 100, nobody, 1);
  told.measured_end(1260, 6, 110, nobody, 2);
  REQUIRE(told.ended.size() == 6);
  CHECK_FALSE(told.ended[1].service);
  CHECK(told.ended[1].response == 60);
  CHECK(told.ended[2].service == 30);
  CHECK_FALSE(told.ended[3].service);
  CHECK(told.ended[4].service == 10);
  CHECK(told.ended[5].service == 110);
}

TEST_CASE("an end that is missing may have kept the disk busy") {
  Told told;
  told.start(1010, 7, 3, 0);
  told.start(1080, 7, 3, 0);
  told.measured_end(1100, 9, 60);
  told.bare_end(1150, 7);
  REQUIRE(told.ended.size() == 2);
  CHECK_FALSE(told.ended[0].service);
  CHECK(told.ended[1].service == 50);
}

TEST_CASE("how long the disk served what began before the trace is not known") {
  Told told;
  told.measured_end(1100, 1, 101);
  told.measured_end(1130, 2, 500);
  REQUIRE(told.ended.size() == 2);
  CHECK(told.ended[0].response == 101);
  CHECK_FALSE(told.ended[0].service);
  CHECK(told.ended[1].service == 30);
}

TEST_CASE("a request that cannot have lasted so long has no begin") {
  for (const u64 response : {u64{1051}, u64{1} << 63U, ~u64{0}}) {
    Told told;
    told.measured_end(1050, 7, response);
    REQUIRE(told.ended.size() == 1);
    CHECK_FALSE(told.ended[0].begin);
    CHECK_FALSE(told.ended[0].service);
    CHECK(told.counts().untimed == 1);
  }
}

TEST_CASE("an IRP that begins again has lost an end") {
  Told told;
  told.start(1010, 7, 3);
  told.start(1020, 7, 4);
  told.bare_end(1050, 7);
  REQUIRE(told.ended.size() == 1);
  CHECK(told.ended[0].begin == 1020);
  CHECK(told.ended[0].thread == 4);
  CHECK(told.counts().lost_ends == 1);
}

TEST_CASE("what has not ended is open, in the order of its begin") {
  Told told;
  told.start(1030, 9);
  told.start(1010, 7);
  told.start(1020, 8);
  told.bare_end(1040, 8);
  const auto open = told.open();
  REQUIRE(open.size() == 2);
  CHECK(open[0].irp == 7);
  CHECK(open[1].irp == 9);
}

TEST_CASE("an id that another thread has since does not name the issuer") {
  Told told;
  told.population.start_thread(40, 1000, {});
  const auto second = told.population.start_thread(40, 1080, {});
  told.measured_end(1100, 1, 50, second);
  told.measured_end(1200, 2, 50, second);
  REQUIRE(told.ended.size() == 2);
  CHECK(told.ended[0].thread == nobody);
  CHECK(told.ended[1].thread == second);
  CHECK(told.counts().reused_threads == 1);
}

TEST_CASE("requests that begin and never end cost no more than the most") {
  Told told;
  for (u64 irp = 0; irp < DiskRequests::most_open + 5; ++irp) told.start(1000, irp);
  CHECK(told.open().size() == DiskRequests::most_open);
  CHECK(told.counts().left_out == 5);
}

TEST_CASE("a clock that runs backwards makes no time") {
  Told told;
  told.start(1010, 7);
  told.bare_end(1005, 7);
  told.start(most, 8);
  told.bare_end(least, 8);
  told.measured_end(least, 9, 1);
  for (const auto& one : told.ended) {
    CHECK_FALSE(one.begin);
    CHECK_FALSE(one.response);
  }
}

TEST_CASE("sums of requests stay the largest number") {
  DiskSums sums;
  DiskRequest request{};
  request.bytes = ~u64{0};
  request.response = most;
  request.service = 1;
  for (int i = 0; i < 3; ++i) sums.add(request);
  CHECK(sums.bytes_read == ~u64{0});
  CHECK(sums.response == most);
  CHECK(sums.queue == most);
  CHECK(sums.service == 3);
  DiskSums both;
  both.add(sums);
  both.add(sums);
  CHECK(both.bytes_read == ~u64{0});
  CHECK(both.count() == 6);
  CHECK(both.responses.count() == 6);
}

TEST_CASE("busy time is the union of intervals") {
  std::mt19937 random{4};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<i64, i64>> intervals(random() % 40);
    for (auto& [from, to] : intervals) {
      from = static_cast<i64>(random() % 200);
      to = from + static_cast<i64>(random() % 30);
    }
    std::sort(intervals.begin(), intervals.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<bool> is_busy(300);
    i64 last = -1;
    BusyTime busy{[&](const BusyTime::Interval& one) {
      CHECK(one.from > last);
      last = one.to;
    }};
    for (const auto& [from, to] : intervals) {
      busy.add(from, to);
      for (auto at = from; at < to; ++at) is_busy[static_cast<std::size_t>(at)] = true;
    }
    busy.finish();
    CHECK(busy.total() == std::count(is_busy.begin(), is_busy.end(), true));
    CHECK(busy.cut() == 0);
  }
}

TEST_CASE("busy time keeps the latest intervals, and counts what reaches further back in part") {
  BusyTime busy;
  constexpr i64 count = i64{BusyTime::most_intervals} + 10;
  for (i64 i = 0; i < count; ++i) busy.add(10 * i, 10 * i + 1);
  CHECK(busy.cut() == 0);
  busy.add(0, 10 * count);  // the first ten are settled, up to 91
  busy.add(5, 4);
  busy.finish();
  CHECK(busy.total() == 10 + 10 * count - 91);
  CHECK(busy.cut() == 2);
}

TEST_CASE("a place on a disk has the first file in use that claims it, else the first other one") {
  std::mt19937 random{5};
  for (int round = 0; round < 200; ++round) {
    struct Claim {
      u64 from, to;
      std::string path;
      bool live;
    };
    std::vector<Claim> claims(random() % 30);
    DiskMap map{1U << 20U};
    for (auto& claim : claims) {
      claim = {random() % 200, 0, std::to_string(random() % 1000), random() % 2 == 0};
      claim.to = claim.from + random() % 40;
      const auto file =
          map.add_file({claim.path, claim.live ? NameState::live : NameState::deleted});
      map.add_extent(*file, claim.from, claim.to - claim.from);
    }
    map.finish();
    for (u64 place = 0; place < 250; ++place) {
      const Claim* expected = nullptr;
      for (const auto& claim : claims)
        if (claim.from <= place && place < claim.to &&
            (expected == nullptr || (claim.live && !expected->live)))
          expected = &claim;
      const auto* const found = map.find(place);
      REQUIRE((found == nullptr) == (expected == nullptr));
      if (found != nullptr) CHECK(found->path == expected->path);
    }
  }
}

TEST_CASE("a map of a disk keeps what it may, and no place beyond the last") {
  DiskMap map{1000};
  const auto file = map.add_file({std::string(600, 'a'), NameState::live});
  REQUIRE(file);
  CHECK_FALSE(map.add_file({std::string(600, 'b'), NameState::live}));
  map.add_extent(*file, ~u64{0} - 10, 100);
  map.add_extent(*file, ~u64{0} - 10, 5);
  for (u64 i = 0; i < 100; ++i) map.add_extent(*file, i * 10, 5);
  map.finish();
  CHECK(map.find(~u64{0} - 8) != nullptr);
  CHECK(map.find(~u64{0}) == nullptr);
  CHECK(map.left_out() > 90);
}
