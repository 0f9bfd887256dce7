#include "coldtrace/tracefile/events/clock.hpp"

#include <limits>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/events/header_type.hpp"

using namespace coldtrace;
using namespace coldtrace::tracefile;

TEST_CASE("ticks become time at the counter's rate, towards zero") {
  constexpr u64 start = 0x01d5'0000'0000'0000;
  // A performance counter of 3 MHz: 3 ticks in 10 units of 100 ns.
  const Clock clock{ClockType::performance_counter, core::FileTime{start}, 1000, {3, 10}};
  CHECK(clock.known());
  CHECK_FALSE(clock.approximate());
  CHECK(clock.to_file_time(1000) == core::FileTime{start});
  CHECK(clock.to_file_time(1003) == core::FileTime{start + 10});
  CHECK(clock.to_file_time(1004) == core::FileTime{start + 13});
  CHECK(clock.to_duration(7) == 23);
  CHECK(clock.to_ticks(20) == 6);
}

TEST_CASE("bounds of time are the first and the last timestamp inside") {
  const Clock clock{ClockType::performance_counter, core::FileTime{1000}, 0, {1, 10}};
  const auto first = clock.first_timestamp_at(core::FileTime{1015});
  const auto last = clock.last_timestamp_at(core::FileTime{1015});
  REQUIRE(first);
  REQUIRE(last);
  CHECK(*first == 2);
  CHECK(*last == 1);
}

TEST_CASE("a clock whose session is lost knows no time, and that of cycles is approximate") {
  CHECK_FALSE(Clock{}.known());
  CHECK(Clock{ClockType::cpu_cycles, core::FileTime{1}, 0, {24, 1}}.approximate());
  CHECK(to_string(ClockType::cpu_cycles) == "cpu_cycles");
}

// Source: Windows SDK, evntcons.h and ntwmi.h: EVENT_HEADER has 80 bytes, SYSTEM_TRACE_HEADER 32,
// PERFINFO_TRACE_HEADER 16, EVENT_TRACE_HEADER 48, EVENT_INSTANCE_GUID_HEADER 72.
TEST_CASE("headers are as large as Windows has them, and of their producer's pointers") {
  struct Row {
    HeaderType type;
    unsigned size, pointers;
  };
  const auto row = GENERATE(values<Row>({
      {HeaderType::event64, 80, 8},
      {HeaderType::event32, 80, 4},
      {HeaderType::system64, 32, 8},
      {HeaderType::perfinfo32, 16, 4},
      {HeaderType::full64, 48, 8},
      {HeaderType::instance32, 72, 4},
      {HeaderType::wnode, 0, 8},
  }));
  CHECK(layout_of(row.type).header_size == row.size);
  CHECK(layout_of(row.type).pointer_size == row.pointers);
}
