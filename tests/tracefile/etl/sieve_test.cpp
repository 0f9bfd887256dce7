#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/selection/event_selection.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::EtlBuffer;
using fixtures::EtlSession;

constexpr u16 context_switch_hook = 0x0524;

EventSelection select(const std::string& where) {
  EventSelection selection;
  selection.where = fixtures::value_of(parse_where(where));
  return selection;
}

// The events that are left of a sieved stream, by their place, and those that the sieve lets
// through of the whole one.
struct Sieved {
  std::set<std::pair<u64, u32>> streamed, let_through;
};

// A trace that is read once without a sieve, and again with each.
class Sifter {
 public:
  explicit Sifter(const std::vector<std::byte>& bytes)
      : image_{bytes},
        trace_{fixtures::value_of(Trace::open(image_, {}, findings_))},
        events_{all_events(trace_)} {}

  Sieved sift(const EventSieve& sieve) const {
    core::Findings findings;
    CatalogOptions options;
    options.sieve = &sieve;
    const auto trace = Trace::open(image_, options, findings);
    REQUIRE(trace);
    // What is wanted has names, for which the buffers are read twice, and no event is counted
    // twice.
    CHECK(trace->events() == trace_.events());
    Sieved result;
    for (const auto& held : all_events(*trace, {.sieved = true}))
      result.streamed.emplace(held.event.buffer_offset, held.event.offset);
    for (const auto& held : events_)
      if (sieve.lets_through(held.event))
        result.let_through.emplace(held.event.buffer_offset, held.event.offset);
    return result;
  }

 private:
  core::MemoryImage image_;
  core::Findings findings_;
  Trace trace_;
  std::vector<HeldEvent> events_;
};

bool holds(const Sieved& sieved) {
  return std::includes(sieved.streamed.begin(), sieved.streamed.end(), sieved.let_through.begin(),
                       sieved.let_through.end());
}

// Buffers of ten events each, of processes 0 to 9; those of process 5 have a level of their own.
std::vector<EtlBuffer> buffers_of_processes() {
  std::vector<EtlBuffer> buffers;
  i64 time = 1'000'100;
  for (u32 pid = 0; pid < 10; ++pid) {
    auto& buffer = buffers.emplace_back(static_cast<u16>(pid % 2));
    for (int i = 0; i < 10; ++i)
      buffer.event(some_provider, static_cast<u16>(pid), 1, {pid + 100, pid, ++time}, words({1}));
  }
  return buffers;
}

}  // namespace

TEST_CASE("buffers without an event that headers let through are not read again") {
  const auto bytes = build_etl(EtlSession{}, buffers_of_processes());
  const auto [where, buffers] = GENERATE(table<std::string, std::size_t>({
      {"pid == 5", 1},
      {"pid == 99", 0},
      {"pid in (2..3) or tid == 101", 3},
      {"not id == 7", 10},  // and the header of the trace
      {"provider.guid == '12345678-9abc-def0-1234-56789abcdef0' and id >= 8", 2},
      {"pid == 2 and process == 'x'", 1},  // names are not known yet
      {"header.payload_size == 7", 0},
  }));
  CAPTURE(where);
  const auto selection = select(where);
  const auto sieve_of_it = make_sieve(selection);
  REQUIRE(sieve_of_it);
  const auto sieved = Sifter{bytes}.sift(*sieve_of_it);
  CHECK(holds(sieved));
  std::set<u64> read;
  for (const auto& place : sieved.streamed) read.insert(place.first);
  CHECK(read.size() == buffers);
}

TEST_CASE("a selection that needs every event has no sieve") {
  CHECK_FALSE(make_sieve(EventSelection{}));
  CHECK_FALSE(make_sieve(select("name == 'Process/Start'")));
  CHECK_FALSE(make_sieve(select("pid == 5 and ImageFileName == 'x'")));
  auto selection = select("pid == 5");
  CHECK(make_sieve(selection));
  selection.tids = {7};  // what no event had is told
  CHECK_FALSE(make_sieve(selection));
}

TEST_CASE("switches are read wherever events have their threads of them") {
  std::vector<EtlBuffer> buffers;
  buffers.emplace_back(u16{0}).perfinfo(context_switch_hook, 2, 1'000'100, words({77, 1}));
  buffers.emplace_back(u16{0}).perfinfo(system_call, 2, 1'000'200, pointer(0xfffff80000000000));
  buffers.emplace_back(u16{1}).event(some_provider, 1, 1, {5, 6, 1'000'300}, words({1}));
  const auto bytes = build_etl(EtlSession{}, buffers);
  const Sifter sifter{bytes};
  const auto streamed = [&](const std::string& where) {
    const auto selection = select(where);
    const auto sieved = sifter.sift(*make_sieve(selection));
    CHECK(holds(sieved));
    return sieved.streamed.size();
  };
  CHECK(streamed("header.type == 'perfinfo64'") >= 3);
  CHECK(streamed("tid == 77") >= 3);
  CHECK(streamed("header.type == 'event64'") == 1);
}

TEST_CASE("what a sieve leaves of real traces has all that it lets through") {
  if (samples_missing()) return;
  const auto* const name = GENERATE("dp_vsgc.etl", "pv_net.4.5.2.x64.etl");
  const auto bytes = fixtures::value_of(core::read_whole_file(sample_path(name), u64{1} << 30U));
  const Sifter sifter{bytes};
  for (const auto* const where :
       {"pid == 4", "opcode == 36", "level == 5 and cpu == 0", "tid == 99999999"}) {
    CAPTURE(name, where);
    const auto selection = select(where);
    CHECK(holds(sifter.sift(*make_sieve(selection))));
  }
}

}  // namespace coldtrace::tracefile
